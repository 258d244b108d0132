"""How much worked examples help a chat model that was not trained here.

    python -m tests.bench.tasks.shown --model FILE                 all families of the level `first`, some minutes
    python -m tests.bench.tasks.shown --model FILE --level easy --families products,gcd
    python -m tests.bench.tasks.shown --model FILE --quick         four questions of each

Each question is asked without an example, after two that show the answer alone, and after two as the product shows
them, in most families with work (sapo_desktop/tasks/worked/lines.py). The figures are the shares solved of
greedy answers, and of three drawn ones.
"""

from contextlib import suppress
from pathlib import Path

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.extraction import OPEN
from sapo_desktop.core.records import Exchange, Prompt, Question, Sampling, TrainerSettings
from sapo_desktop.core.resources import resource
from sapo_desktop.core.task_list import FIRST
from sapo_desktop.engines import protocols
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.tasks.catalogue import Family, TaskKey, load_catalogue, task_key
from sapo_desktop.tasks.examiner import Examiner
from sapo_desktop.tasks.service import load_library
from sapo_desktop.tasks.worked.examples import FamilyExamples, shown_with, worked_examples
from tests.bench.figure import Figure, arguments, show, with_fixed_hashes

SHOTS = 2
MOST_TOKENS = 80
DRAWN = 3


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a model folder or a GGUF file")
    parser.add_argument("--families", help="names with commas between them; all without it")
    parser.add_argument("--level", default=FIRST)
    parser.add_argument("--count", type=int, help="questions of a family")
    options = parser.parse_args()
    with_fixed_hashes()
    load_library()
    catalogue = load_catalogue(resource("tasks.toml"))
    examiner = Examiner(catalogue)
    engine = TorchEngine(protocols.Load(model=str(options.model), trainer=TrainerSettings(), threads=1))
    wanted = options.families.split(",") if options.families else [family.name for family in catalogue.families]
    for family in catalogue.families:
        level = next((one for one in family.levels if one.name == options.level), None)
        if family.name in wanted and level is not None:
            count = options.count or (4 if options.quick else 24)
            asked = questions(examiner, task_key(family, level), options.seed, count)
            show(figures(engine, examiner, family, asked), options)


def questions(examiner: Examiner, task: TaskKey, seed: int, count: int) -> list[Question]:
    """So many different questions."""
    found: dict[str, Question] = {}
    while len(found) < count:
        with suppress(TaskError):  # this seed has no question
            question = examiner.question(task, seed)
            found.setdefault(question.text, question)
        seed += 1
    return [*found.values()]


def figures(engine: TorchEngine, examiner: Examiner, family: Family, asked: list[Question]) -> list[Figure]:
    """The figures of one family."""
    examples = worked_examples(examiner, family)
    alone = FamilyExamples(
        first=[without_work(one) for one in examples.first], longer=[without_work(one) for one in examples.longer]
    )
    found = []
    for way, shown, shots in (("none", alone, 0), ("answers alone", alone, SHOTS), ("as shown", examples, SHOTS)):
        prompts = [Prompt(question=one.text, shown=shown_with(one, shown, shots)) for one in asked]
        for kind, answers, sampling in (
            ("greedy", 1, Sampling(max_tokens=MOST_TOKENS, greedy=True)),
            ("drawn", DRAWN, Sampling(max_tokens=MOST_TOKENS, seed=3)),
        ):
            share = solved(
                engine, examiner, asked, protocols.Generate(prompts=prompts, answers=answers, sampling=sampling)
            )
            found.append(Figure(f"{asked[0].task}, {kind}, {way}", share, "share", note=f"of {len(asked)} questions"))
    return found


def without_work(one: Exchange) -> Exchange:
    """The same example, its answer alone."""
    return Exchange(question=one.question, answer=OPEN + one.answer.partition(OPEN)[2])


def solved(engine: TorchEngine, examiner: Examiner, asked: list[Question], ask: protocols.Generate) -> float:
    """Share of all answers."""
    rows = engine.generate(ask, lambda _: None, lambda: False).completions
    marks = [
        examiner.mark(one.task, one.seed, answer.text) for one, row in zip(asked, rows, strict=True) for answer in row
    ]
    return sum(mark.solved for mark in marks) / len(marks)


if __name__ == "__main__":
    main()
