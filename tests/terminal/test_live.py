"""The live view at the sizes that people have: every line fits, nothing is markup, ASCII where asked for; charts."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from sapo_desktop.core.records import SwarmReward, TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Training, in_english
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.terminal.glyphs import ASCII, UNICODE, glyphs_for
from sapo_desktop.terminal.live import plot, render, squeeze
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    Progressed,
    RoundFinished,
    SettingsChanged,
    StateChanged,
    SwarmChanged,
)
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import SettingsAre
from tests.cli.fake_node import HOSTILE, eval_report, scripted_round
from tests.gui.scenes import status


def busy_view() -> Dashboard:
    """A node in the middle of round 41 of 300, with notices and hostile answers."""
    moment = 0.0
    view = Dashboard("/home/ann/node", rounds_wanted=300, clock=lambda: moment)
    are = SettingsAre(settings=Settings(mix="8/0"), changed=[], overridden=[])
    told = msgspec.structs.replace(status(Training(round=1), "working", are.settings, 0), rounds_per_hour=None)
    view.greet(told, are)
    view.take(EvalFinished(report=eval_report("base", 0, 0.21)))
    for number in range(1, 41):
        moment += 3.0
        view.take(round_finished(number))
    view.take(EvalFinished(report=eval_report("40", 40, 0.3)))
    view.take(StateChanged(state="working", reason="Training round 41", why=Training(round=41)))
    view.take(Progressed(round=41, phase="generate", done=38, total=64))
    for task, text in (("gcd/easy", HOSTILE), ("lcm/easy", "漢字" * 100)):
        view.take(Answered(round=40, task=task, question="Q: " + text, completion=text, solved=True))
    view.take(Notice(level="warning", text="Out of memory: [b]smaller[/b] batches."))
    return view


def round_finished(number: int) -> RoundFinished:
    return RoundFinished(report=scripted_round(number, 0.2 + number / 100))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50), (50, 12), (100, 30), (300, 100), (20, 5)])
def test_every_line_fits(width: int, height: int, glyphs: object) -> None:
    lines = render(busy_view(), width, height, glyphs)  # type: ignore[arg-type]
    assert len(lines) == height
    assert max(cell_len(line.plain) for line in lines) <= width


def test_80x24_shows_everything_that_matters() -> None:
    text = "\n".join(line.plain for line in render(busy_view(), 80, 24, UNICODE))
    for word in (
        *("SAPO Desktop", "starter", "seed 1", "silo, 8/0", "40 of 300 rounds in this view", "Training round 41"),
        *("38/64", "1,200 rounds/h", "left", "reward 0.60", "held-out 30%", "base 21%"),
        *("60%", "56%", "320", "✓ Least common multiple, easy", "Out of memory: [b]smaller[/b]", "Ctrl-C"),
    ):
        assert word in text, word


def test_a_new_view_is_calm_too() -> None:
    lines = render(Dashboard("data"), 80, 24, UNICODE)
    text = "\n".join(line.plain for line in lines)
    assert "Starting the node" in text
    assert len(lines) == 24


def test_ascii_is_ascii() -> None:
    assert all(line.plain.isascii() for line in render(busy_view(), 80, 24, ASCII))


def test_hostile_text_is_drawn_as_text() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, height=24, markup=False, highlight=False)
    for line in render(busy_view(), 80, 24, UNICODE):
        console.print(line)
    drawn = screen.getvalue()
    assert "[red]12[/red]" in drawn
    assert "owned" not in drawn
    assert "\x1b[2J" not in drawn
    assert "\x07" not in drawn
    assert "\u202e" not in drawn


def test_many_tasks_use_two_columns_and_keep_their_level() -> None:
    view = busy_view()
    report = scripted_round(41)
    names = [f"a_family_with_a_long_name_{number}/middle" for number in range(16)]
    marks = [TaskMark(task=name, answers=8, solved=0.5, partial=0.5, reward=0.5) for name in names]
    view.take(RoundFinished(report=msgspec.structs.replace(report, tasks=marks)))
    text = "\n".join(line.plain for line in render(view, 80, 24, UNICODE))
    assert text.count("…, middle") >= 12
    assert "a_family" not in text


@pytest.mark.parametrize(
    ("encoding", "glyphs"), [("utf-8", UNICODE), ("ascii", ASCII), ("cp437", ASCII), (None, ASCII), ("nonsense", ASCII)]
)
def test_glyphs_follow_the_encoding(encoding: str | None, glyphs: object) -> None:
    assert glyphs_for(encoding) is glyphs


def test_in_the_swarm_a_line_says_how_it_stands_and_never_a_reward_without_its_interval() -> None:
    view = busy_view()
    view.take(SettingsChanged(now=SettingsAre(settings=Settings(mix="8/0", silo=False), changed=[], overridden=[])))
    view.take(SwarmChanged(state="linked", reason="Linked to 3 peers.", peers=3))
    measured = SwarmReward(value=0.59, low=0.45, high=0.7, peers=12, tasks={})
    report = msgspec.structs.replace(scripted_round(41, 0.6), swarm_reward=measured)
    view.take(RoundFinished(report=report))
    lines = [line.plain for line in render(view, 80, 24, UNICODE)]
    assert "swarm, 8/0" in lines[0]
    assert lines[3].startswith("Linked to 3 peers.")
    assert lines[3].endswith("peers' reward 0.59 (0.45 to 0.70), measured on 12 peers")
    view.take(SettingsChanged(now=SettingsAre(settings=Settings(mix="8/0"), changed=[], overridden=[])))
    assert "peers" not in "\n".join(line.plain for line in render(view, 80, 24, UNICODE)[:4])


def test_more_values_than_cells_become_means_of_equal_stretches() -> None:
    assert squeeze([0, 1, 2, 3, 4, 5], 3) == [0.5, 2.5, 4.5]
    assert squeeze([1, 2], 3) == [1, 2]
    assert squeeze([1, 2], 0) == []


def test_two_rows_from_lowest_to_highest() -> None:
    # Drawn from 0 to 1: 16 steps of which 0 shows as one, .5 as half, 1 as all.
    assert plot([0.0, 0.5, 1.0], 4, 2, UNICODE) == ["  █ ", "▁██ "]


def test_the_base_line_is_where_no_bar_is() -> None:
    rows = plot([1.0], 3, 2, UNICODE, baseline=0.0)
    assert rows == ["█  ", "█┄┄"]


def test_without_values_there_is_an_empty_chart() -> None:
    assert plot([], 3, 2, UNICODE) == ["   ", "   "]


def test_ascii_stays_ascii() -> None:
    assert all(row.isascii() for row in plot([0.1, 0.5, 0.9], 5, 3, ASCII, baseline=0.3))


def test_that_other_programs_have_the_processor_has_a_line_of_its_own() -> None:
    view = busy_view()
    said = "Other programs take 88% of the processor: this waits its turn."
    why = Training(round=41, busy=said)
    view.take(StateChanged(state="working", reason=in_english(why, 0.0), why=why))
    lines = [line.plain.rstrip() for line in render(view, 80, 24, UNICODE)]
    assert lines[2] == said and lines[1].startswith("Training round 41  ")
    view.take(StateChanged(state="working", reason="Training round 41", why=Training(round=41)))
    assert not any(said in line.plain for line in render(view, 80, 24, UNICODE))
