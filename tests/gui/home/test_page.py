"""Home's sentence, and the line below it that says why nothing seems to go on."""

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import Training
from sapo_desktop.gui.home import page as home_page
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.events import RoundFinished, StateChanged
from sapo_desktop.worker.control.messages.requests import ResetSettings
from tests.builders import round_report
from tests.gui import scenes, staged_home
from tests.gui.driving import shown, texts
from tests.gui.stage import StageBridge


def home(qtbot: QtBot) -> tuple[HomePage, StageBridge]:
    bridge = StageBridge(scenes.a_view())
    staged_home.stage(bridge)
    return shown(qtbot, HomePage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900), bridge


def test_that_other_programs_have_the_processor_is_said_until_it_is_over(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    said = "Other programs take 88% of the processor: this waits its turn."
    busy = sentence("Other programs take {share}% of the processor: this waits its turn.", share=88)
    for why in (Training(round=1, busy=busy), Training(round=1)):
        bridge.tell(StateChanged(state="working", reason="", why=why))
        assert (said in texts(page)) == bool(why.busy)
        assert page._hero._busy.isHidden() != bool(why.busy)


def test_how_long_a_slow_round_took_is_said(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    for seconds, said in ((59.0, "of this model"), (245.0, "of this model; the last took 4 min 5 s")):
        bridge.tell(RoundFinished(report=round_report(900 + int(seconds), seconds=seconds)))
        assert said in texts(page)


def test_a_line_that_became_level_is_said_to_be_and_what_would_lift_it(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    scores = (0.1, 0.2, 0.38, 0.38, 0.38)
    bridge.view.curves.load(
        scenes.curve(
            [0.4] * 161, [scenes.validation_point(40 * at, score, scores[0]) for at, score in enumerate(scores)]
        )
    )
    for every, is_said in ((160, False), (40, True)):
        bridge.view.settings = msgspec.structs.replace(bridge.view.settings, validate_every=every)
        page.refresh(frozenset({"curves"}))
        assert ("The score has hardly risen since round 80:" in page._chart._about.text()) == is_said
    page._chart.shown.chosen.emit("reward")
    assert "hardly risen" not in page._chart._about.text()


def test_where_the_settings_file_cannot_be_read_the_defaults_are_offered(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, bridge = home(qtbot)
    bridge.tell(Lost(reason="There is no setting 'colour' in settings.toml.", mend="settings"))
    assert page._banner.button.isVisible() and bridge.view.settable
    bridge.tell(Lost(reason="There is no setting 'colour' in settings.toml.", mend="file"))
    assert "The node cannot start: There is no setting 'colour' in settings.toml." in texts(page)
    assert page._banner.button.text() == "Use the defaults" and not bridge.view.settable
    for agreed in (False, True):
        monkeypatch.setattr(home_page, "confirm", lambda *asked, agreed=agreed: agreed)
        page._banner.button.click()
        assert bridge.asked_for(ResetSettings) == [ResetSettings(keys=[])] * agreed


def test_where_all_comes_from_one_source_it_is_said_and_there_is_nothing_to_press(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view(silo=False))
    page = shown(qtbot, HomePage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900)
    for one_source in (True, False):
        swarm = msgspec.structs.replace(scenes.swarm_info(), one_source=one_source)
        bridge.changed.emit(bridge.view.take_swarm(swarm))
        assert page._banner.isVisible() == one_source and not page._banner.button.isVisible()
    assert page._banner.property("tone") == "warning"
