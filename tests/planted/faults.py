"""Forty faults that would harm a person, each a piece of the product's source and its replacement.

They were chosen by what must never break, before anybody looked at which tests there are: a suite that is made smaller
must still catch those that it caught. `python -m tests.planted` plants them one at a time.

A fault is found by its text, wherever under sapo_desktop/ that stands, and there exactly once: files may move freely.
Where a change rewords the text itself, the entry is reworded with it, so that it stays the same fault.
"""

from dataclasses import dataclass
from typing import Literal

Area = Literal["method", "engines", "tasks", "swarm", "node", "models", "window", "terminal"]

FOLDERS: dict[Area, tuple[str, ...]] = {
    "method": ("tests/learning", "tests/core"),
    "engines": ("tests/engines",),
    "tasks": ("tests/tasks", "tests/core/test_extraction.py"),
    "swarm": ("tests/swarm",),
    "node": ("tests/worker",),
    "models": ("tests/models",),
    "window": ("tests/view", "tests/gui"),
    "terminal": ("tests/cli", "tests/terminal"),
}
"""Where an area's quick tests are: the one place to change when tests move."""


@dataclass(frozen=True)
class Fault:
    """One fault. `before` stands exactly once in the product's source, and becomes `after`."""

    name: str
    area: Area
    harm: str
    """What a person would suffer from it."""
    before: str
    after: str
    first: str = ""
    """Words for pytest's `-k`: the tests that are tried first. Without effect on the verdict, which all of the area's
    quick tests give."""


FAULTS = (
    # -- method ------------------------------------------------------------------------------------------------------
    Fault(
        "advantage-denominator",
        "method",
        "Groups are scaled by the sample's deviation: learning rates stop meaning what the docs say they mean.",
        "(reward - mean) ** 2 for reward in rewards) / len(rewards))",
        "(reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1))",
        first="one_solved",
    ),
    Fault(
        "bidi-marks-shown",
        "method",
        "A peer's text can turn around what is read in the window and in the terminal.",
        '_DROPPED = {"Cc", "Cf", "Cs", "Co", "Cn"}',
        '_DROPPED = {"Cc", "Cs", "Co", "Cn"}',
        first="plain_text",
    ),
    Fault(
        "unknown-setting-accepted",
        "method",
        "A misspelt key in settings.toml is passed over: the node trains with settings that nobody chose.",
        "        field = _field(key, path)\n        if not _fits(value, field):",
        "        if key not in _FIELDS:\n            continue\n        field = _field(key, path)\n"
        "        if not _fits(value, field):",
        first="settings_file",
    ),
    # -- engines -----------------------------------------------------------------------------------------------------
    Fault(
        "clip-one-bound-for-both",
        "engines",
        "Likely answers are held back as hard as unlikely ones: with several updates a round learning stalls.",
        "ratio.clamp(1 - clip.low, 1 + clip.high)",
        "ratio.clamp(1 - clip.low, 1 + clip.low)",
        first="grpo",
    ),
    Fault(
        "answer-mask-off-by-one",
        "engines",
        "Each answer token is scored by the state after it: the step raises what was never sampled.",
        "inputs = [[s.prompt[-1], *s.tokens[:-1]] for s in chosen]",
        "inputs = [s.tokens for s in chosen]",
        first="batches or trainer",
    ),
    Fault(
        "end-of-sequence-not-learned",
        "engines",
        "The end of an own answer is no part of what is trained on: models forget to stop.",
        '[*t, end] if f == "closed" else t',
        't[:-1] if f == "stop" else t',
        first="generation or torch_lm",
    ),
    Fault(
        "prompts-padded-right",
        "engines",
        "Short prompts in a batch are answered as if zeros followed them: nonsense from all but the longest.",
        "torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device=device)",
        "torch.tensor([p + [0] * (longest - len(p)) for p in prompts], device=device)",
        first="generation or llama",
    ),
    Fault(
        "adapter-scaled-twice",
        "engines",
        "llama.cpp answers with an adapter scaled by alpha over rank twice: other answers than the model that learns.",
        'add_float32("adapter.lora.alpha", scaling * rank)',
        'add_float32("adapter.lora.alpha", scaling * scaling * rank)',
        first="llama_cpp or gguf",
    ),
    # -- tasks -------------------------------------------------------------------------------------------------------
    Fault(
        "seed-without-index",
        "tasks",
        "All questions of a task in ten minutes are one question, and no peer can ask ours again.",
        'slot.to_bytes(8, "big"), task, index.to_bytes(8, "big"))',
        'slot.to_bytes(8, "big"), task)',
        first="questions",
    ),
    Fault(
        "strict-reward-lenient",
        "tasks",
        "A half-right answer earns the whole reward where only solved ones should.",
        'partial if rule == "partial" else float(solved)',
        'partial if rule == "partial" else float(partial > 0)',
        first="examiner or service",
    ),
    Fault(
        "first-answer-counts",
        "tasks",
        "A model that corrects itself is marked by what it took back.",
        "end = completion.rfind(CLOSE, first)",
        "end = completion.find(CLOSE, first)",
        first="extraction",
    ),
    Fault(
        "endless-number-parses",
        "tasks",
        "A number of four thousand digits reaches the marker.",
        'r"([+-]?)([0-9]{1,40}|',
        'r"([+-]?)([0-9]+|',
        first="grammars",
    ),
    Fault(
        "examiner-without-clock",
        "tasks",
        "An answer that makes a marker loop holds the round up until the host is killed.",
        "signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)",
        "signal.setitimer(signal.ITIMER_PROF, 0, _AGAIN)",
        first="limits",
    ),
    # -- swarm -------------------------------------------------------------------------------------------------------
    Fault(
        "signature-not-checked",
        "swarm",
        "Anybody publishes under anybody's key.",
        "if not verify(signature, key=key, label=label, network=network, content=content):",
        "if not signature:",
        first="envelope",
    ),
    Fault(
        "signature-without-kind",
        "swarm",
        "A signature made for one kind of message counts for another, and no other program's holds here.",
        'b"sapo/1/" + label.encode("ascii") + b"\\0" + network + content',
        'b"sapo/1/" + b"\\0" + network + content',
        first="vectors or envelope",
    ),
    Fault(
        "replay-accepted",
        "swarm",
        "A group that was used is sent again and again, and counts each time.",
        "before = self._seen.get(name)",
        "before = None",
        first="pool",
    ),
    Fault(
        "credit-not-spent",
        "swarm",
        "A node publishes more groups than its peer allows, and is cut off for it.",
        "        budget.groups.take(groups, now)\n",
        "",
        first="session",
    ),
    Fault(
        "slots-of-the-future",
        "swarm",
        "Answers worked out an hour ahead are taken as fresh.",
        "if age > limits.NEWEST_SLOT:",
        "if age > limits.NEWEST_SLOT + 6:",
        first="clock",
    ),
    Fault(
        "handshake-without-certificate",
        "swarm",
        "Anyone between two peers can pass their proofs on and read along.",
        "        _versions(server),\n        certificate,\n",
        "        _versions(server),\n",
        first="session or vectors or network",
    ),
    Fault(
        "private-address-dialled",
        "swarm",
        "A stranger has nodes knock at printers and routers in their owners' homes.",
        "return ip.is_global and not ip.is_multicast",
        "return not ip.is_loopback and not ip.is_multicast",
        first="address",
    ),
    # -- node --------------------------------------------------------------------------------------------------------
    Fault(
        "silo-keeps-links",
        "node",
        "The window says 'no network at all', and the links stay open.",
        'await self._leave("silo", sentence("In silo: no network at all."))',
        'self._show("silo", sentence("In silo: no network at all."))',
        first="test_side",
    ),
    Fault(
        "published-without-consent",
        "node",
        "Answers are given to everybody under CC0 although nobody agreed to it.",
        "return self.sharing and not self._has_left",
        "return not self._has_left",
        first="member",
    ),
    Fault(
        "held-out-question-trained",
        "node",
        "Rounds train on the questions that scores are taken on.",
        "if question is not None and not held_out_side(family_of(question.task), question.text):",
        "if question is not None:",
        first="training_questions",
    ),
    Fault(
        "checkpoint-not-verified",
        "node",
        "A checkpoint with flipped bits is trained on instead of the whole one before it.",
        "                check(folder / name, name, file)",
        "                (folder / name).stat()",
        first="checkpoints",
    ),
    Fault(
        "renamed-before-synced",
        "node",
        "A power cut leaves a checkpoint that has its name and not its content.",
        "                sync_tree(path)\n                final = self._path(number)\n"
        "                path.rename(final)\n",
        "                final = self._path(number)\n                path.rename(final)\n"
        "                sync_tree(final)\n",
        first="checkpoints or durable",
    ),
    Fault(
        "lost-round-counts",
        "node",
        "After a kill the round that is played again stands in the history twice.",
        '"UPDATE rounds SET lost = 1 WHERE round > ? AND lost = 0"',
        '"UPDATE rounds SET lost = 1 WHERE round > ? + 1 AND lost = 0"',
        first="history",
    ),
    Fault(
        "counters-not-taken-back",
        "node",
        "After an engine's death the node counts on from a round that its weights have never seen.",
        "return msgspec.structs.replace(checkpoint.counters, run=now.run, micro_batch=now.micro_batch)",
        "return now",
        first="test_node",
    ),
    Fault(
        "two-workers-on-one-folder",
        "node",
        "A second start on one data folder writes into the checkpoints of the first.",
        "if not lock_descriptor(descriptor, blocking=False):\n                    raise FolderInUse(",
        "if lock_descriptor(descriptor, blocking=False) is None:\n                    raise FolderInUse(",
        first="lock",
    ),
    Fault(
        "worker-not-proven",
        "node",
        "A program that took a dead worker's port is given orders and secrets.",
        "if not hmac.compare_digest(worker.proof, _proof(self._secret, _WORKER, nonces)):",
        "if not worker.proof:",
        first="proof or channel",
    ),
    Fault(
        "web-page-let-in",
        "node",
        "Any web page in the user's browser may knock at the control channel.",
        'if request.headers.get_all("Origin"):',
        'if request.headers.get_all("Origin") == ["null"]:',
        first="channel",
    ),
    Fault(
        "restarted-without-adapter",
        "node",
        "After an out-of-memory kill the node continues with the untrained model and does not say so.",
        "                await self._trainer.host.restart()\n            return await self._load(checkpoint)",
        "                await self._trainer.host.restart()\n            return await self._load(None)",
        first="test_engine",
    ),
    Fault(
        "adapter-not-handed-over",
        "node",
        "llama.cpp answers for ever with the adapter of the first round, while torch learns on.",
        "            finally:\n                self._adapter_changed()",
        "            finally:\n                pass",
        first="llama_cpp",
    ),
    Fault(
        "pause-computes-on",
        "node",
        "Pause is shown, and the fan keeps running.",
        "asleep = self.state is NodeState.PAUSED and not self._awake",
        "asleep = self.state is NodeState.PAUSED and bool(self._awake)",
        first="orders",
    ),
    # -- models ------------------------------------------------------------------------------------------------------
    Fault(
        "download-not-compared",
        "models",
        "A mirror or proxy hands out other weights than the catalogue names, and they are installed.",
        "if (expected in (None, sha256)) and (not small or _git_hash(path, size) == file.blob):",
        "if sha256 and (not small or _git_hash(path, size) == file.blob):",
        first="download",
    ),
    Fault(
        "reserve-in-bytes",
        "models",
        "The memory that was to stay free for other programs is taken.",
        "MEMORY_LEFT_FREE = 500_000_000",
        "MEMORY_LEFT_FREE = 500",
        first="test_fit",
    ),
    # -- window ------------------------------------------------------------------------------------------------------
    Fault(
        "round-counted-twice",
        "window",
        "A round that was lost and played again stands in the window twice.",
        "while self.reports and self.reports[-1].round >= report.round:",
        "while self.reports and self.reports[-1].round > report.round:",
        first="viewmodel",
    ),
    Fault(
        "last-point-missing",
        "window",
        "The chart ends before the newest round.",
        'end = min(len(self._x), int(np.searchsorted(self._x, last, side="right")) + 1)',
        'end = min(len(self._x) - 1, int(np.searchsorted(self._x, last, side="right")) + 1)',
        first="curves",
    ),
    Fault(
        "sentences-stay-english",
        "window",
        "Whatever the worker says stays English in a German window as soon as there is a number in it.",
        "return filled(tr(text.template), {",
        "return filled(tr(str(text)), {",
        first="sentences",
    ),
    # -- terminal ----------------------------------------------------------------------------------------------------
    Fault(
        "exit-code-of-misuse",
        "terminal",
        "A script cannot tell a wrong command line from a failure.",
        "        out.warn(str(error))\n        return error.exit_code",
        "        out.warn(str(error))\n        return 1",
        first="test_cli",
    ),
    Fault(
        "checkpoint-line-missing",
        "terminal",
        "A program that reads --json never hears that a round is safe on the disk.",
        "            if report.checkpoint is not None:\n                out.emit(",
        "            if report.checkpoint is None:\n                out.emit(",
        first="test_run",
    ),
)
