"""The rounds that were played last, and the pace that they show."""

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.fitting import PassSeconds, ProductTimes
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.worker.control.handlers.appraisal import appraise
from sapo_desktop.worker.control.messages.models import CatalogueIs, GetCatalogue
from sapo_desktop.worker.store.history import History
from sapo_desktop.worker.store.played import last_played
from tests.builders import round_report, run_manifest

MARK = TaskMark(task="chain_sum/easy", answers=64, solved=0.5, partial=0.5, reward=0.5)
EACH = PassSeconds(generating=1e-8, learning=1e-8)
TIMES = ProductTimes(hidden=576, float32=EACH, bfloat16=EACH)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Two runs: two rounds of the first, three of the second."""
    path = tmp_path / "history.sqlite"
    kept, number = History(path), 0
    for seconds, rounds in ((1.0, 2), (50.0, 3)):
        run = kept.begin_run(run_manifest(model="starter"))
        for _ in range(rounds):
            number += 1
            report = round_report(number, tasks=[MARK], seconds=seconds, evaluate_seconds=0.0)
            kept.record_round(run, report, [], [])
    kept.close()
    return path


def test_the_newest_rounds_of_the_last_run_are_read_and_nothing_is_changed(history: Path) -> None:
    before = history.read_bytes()
    played = last_played(history, 2)
    assert played is not None and [report.round for report in played.reports] == [5, 4]
    everything = last_played(history, 10)
    assert everything is not None and {report.seconds for report in everything.reports} == {50.0}
    assert played.manifest == run_manifest(model="starter") and history.read_bytes() == before


def test_what_is_not_there_or_damaged_counts_as_not_played(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    assert last_played(path, 2) is None and not path.exists()
    path.write_bytes(b"no database at all" * 100)
    assert last_played(path, 2) is None and path.exists()


def rounds(folder: Path, measure: ProductTimes | None) -> dict[str, float]:
    reply = appraise(GetCatalogue(), Settings(models_folder=str(folder / "models")), folder, measure=lambda: measure)
    assert isinstance(reply, CatalogueIs)
    return {badge.id: badge.round_seconds for badge in reply.models}


def test_the_processor_is_measured_once_and_then_remembered(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    unmeasured = rounds(tmp_path, None)["smollm2-135m"]
    slow = msgspec.structs.replace(
        TIMES, float32=PassSeconds(generating=1e-6, learning=1e-6), bfloat16=PassSeconds(generating=1e-6, learning=1e-6)
    )
    measured = rounds(tmp_path, slow)["smollm2-135m"]
    assert measured > 5 * unmeasured
    assert rounds(tmp_path, TIMES)["smollm2-135m"] == measured


def test_rounds_that_the_starter_played_show_how_long_its_next_ones_take(history: Path) -> None:
    unplayed = rounds(history.parent / "other", TIMES)
    played = rounds(history.parent, TIMES)
    assert played["starter"] > 5 * unplayed["starter"]
    assert played["smollm2-135m"] == unplayed["smollm2-135m"], "a chat model's rounds are others"
