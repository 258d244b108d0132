"""THE METHOD: how a node learns, in SAPO's order (Swarm sAmpling Policy Optimization, arXiv 2509.08721, Algorithm 1).

Open this package first. It computes nothing heavy and touches no process, socket or file. Callers pass what it uses (an
engine that answers and steps, an examiner that sets questions and scores answers, a member of the swarm), so each rule
can be read and tested by itself.

| step of the paper                                  | where it is                                                    |
|----------------------------------------------------|----------------------------------------------------------------|
| the round, from top to bottom                      | `round.py`, `run_round`                                        |
| 1 SampleBatch: which tasks, levels and seeds       | `plan.py`; what is worth asking: `asking.py`; `questions.py`   |
|                                                    | keeps the held-out side of the split out                       |
| 2 Generate L answers to each question              | `round.py` asks the engine (`engines/`)                        |
| 3 share a subset as decoded text                   | `round.py` passes groups to `worker/membership/publishing.py`   |
| 4 I own groups and J that others shared            | `mixing.py`                                                    |
|   (recreated and scored here before they count)    | `worker/membership/external.py`                                 |
| 5 reward, advantage, policy gradient               | the scores: `tasks/scoring.py`; `advantage.py`; what external   |
|                                                    | answers weigh: `external.py`, and how far they are trusted:    |
|                                                    | `trust.py`; the loss: `engines/torch/grpo.py`                  |

In addition to the paper:

- Others' groups are drawn before anything is answered, and replace as many own questions. At least I own ones are
  answered, more only if the swarm has fewer than J that teach.
- `first_look.py`: before the first round, how a model is best asked (worked examples) and at which level it begins.
- `form.py`, `limit.py`: a readable answer earns a tenth until the form is known; how long answers may be.
- `counters.py`: a node's state besides its adapter. Every checkpoint holds it, and a round depends on nothing else.
- `reasoning.py`: how long own answers reason, task by task, and with what success; the bound for external ones.
- `heldout.py`: scores on questions that are never trained on. *Validation* comes from a local secret and drives the
  guard and the best checkpoint; *test* is public and drives figures.
- `guard.py`: separates lost skill from noise, and decides when to return to the best checkpoint.

A group is one question with its L answers: the unit of I and J. Rewards are strict, 1 if solved and otherwise 0, unless
the settings say otherwise. With one optimiser step per round, every ratio of GRPO is 1. So learning from external
answers is weighted imitation, and is called that.
"""
