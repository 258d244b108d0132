"""The closing words of a run."""

import msgspec

from sapo_desktop.commands.run import summary_lines
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.worker.control.messages.events import Answered, EvalFinished, RoundFinished
from tests.builders import step_report
from tests.cli.fake_replies import eval_report, scripted_round


def test_rewards_scores_place_and_next_commands() -> None:
    moment = 0.0
    view = Dashboard("/home/ann/node", clock=lambda: moment)
    for number in (1, 2, 3):
        report = msgspec.structs.replace(scripted_round(number, number / 10), step=step_report())
        view.take(RoundFinished(report=report))
    view.take(EvalFinished(report=eval_report("base", 0, 0.2)))
    view.take(EvalFinished(report=eval_report("3", 3, 0.3)))
    moment = 65.0
    text = "\n".join(summary_lines(view, data_option=" --data n"))
    assert "3 rounds in 1m 05s." in text
    assert "Reward    0.10 → 0.30  (first and last round)" in text
    assert "20% (base) → 30% (now)" in text
    assert "/home/ann/node" in text
    assert "sapo-desktop run --data n" in text
    assert "export --format merged --to my-model --data n" in text


def test_where_nothing_is_learned_there_is_nothing_to_take_along() -> None:
    view = Dashboard("d")
    view.take(RoundFinished(report=scripted_round(1, 0.1)))
    assert "export" not in "\n".join(summary_lines(view))


def test_settings_of_this_run_only_are_part_of_the_next_commands() -> None:
    lines = summary_lines(Dashboard("d"), only_now={"model": "/my model", "seed": "3", "max_tokens": "64"})
    text = "\n".join(lines)
    assert "settings set model='/my model'" in text
    assert "sapo-desktop run --seed 3 --set max_tokens=64" in text


def test_the_task_that_it_solved_last_is_proposed() -> None:
    view = Dashboard("d")
    assert "quiz it" not in "\n".join(summary_lines(view))
    for task, solved in (("gcd/easy", True), ("months/easy", True), ("lcm/easy", False)):
        view.take(Answered(round=1, task=task, question="?", completion="4", solved=solved))
    assert "quiz it        sapo-desktop tasks try months/easy" in "\n".join(summary_lines(view))
