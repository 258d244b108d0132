"""Home's sentence, and the line below it that says why nothing seems to continue."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import Training
from sapo_desktop.gui.home import chart as home_chart
from sapo_desktop.gui.home import page as home_page
from sapo_desktop.gui.home.next_model import next_model
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.widgets.layers import Line, Shade
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import speak
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import SettingsChanged, StateChanged
from sapo_desktop.worker.control.messages.models import CatalogueIs, DownloadModel, GetCatalogue, ModelInstalled
from sapo_desktop.worker.control.messages.replies import Curve, History, SettingsAre, Week
from sapo_desktop.worker.control.messages.requests import GetHistory, GetWeek, ResetSettings, SetSettings
from tests.gui import scenes, staged_home
from tests.gui.driving import button, shown, texts
from tests.gui.stage import StageBridge
from tests.gui.staged_model import catalogue, installed


def home(qtbot: QtBot, history: Curve | None = None) -> tuple[HomePage, StageBridge]:
    bridge = StageBridge(scenes.a_view(history))
    staged_home.stage(bridge)
    return shown(qtbot, HomePage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900), bridge


def test_that_other_programs_have_the_processor_is_said_until_it_is_over(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    said = "Other programs use 88% of the processor, so this takes longer."
    busy = sentence("Other programs use {share}% of the processor, so this takes longer.", share=88)
    for why in (Training(round=1, busy=busy), Training(round=1)):
        bridge.tell(StateChanged(state="working", reason="", why=why))
        assert (said in page._hero._phase.text()) == bool(why.busy)


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
        assert ("The score has hardly risen since round 80." in page._chart._about.text()) == is_said
    page._chart.shown.chosen.emit("training")
    assert "hardly risen" not in page._chart._about.text()


def test_where_the_settings_file_cannot_be_read_the_defaults_are_offered(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, bridge = home(qtbot)
    bridge.tell(Lost(reason="There is no setting 'colour' in settings.toml.", remedy="settings"))
    assert page._banner.button.isVisible() and bridge.view.settable
    bridge.tell(Lost(reason="There is no setting 'colour' in settings.toml.", remedy="file"))
    assert "The node cannot start: There is no setting 'colour' in settings.toml." in texts(page)
    assert page._banner.button.text() == "Use the defaults" and not bridge.view.settable
    for agreed in (False, True):
        monkeypatch.setattr(home_page, "confirm", lambda *asked, agreed=agreed: agreed)
        page._banner.button.click()
        assert bridge.asked_for(ResetSettings) == [ResetSettings(keys=[])] * agreed


@pytest.mark.parametrize("offered", [True, False], ids=["offered", "nothing offered"])
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("silo", [True, False])
def test_what_it_says_needs_no_scrolling_on_a_small_screen(
    qtbot: QtBot, language: str, silo: bool, offered: bool, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(speak, "en"))
    speak(language)
    history = scenes.silo_curve() if silo else scenes.swarm_curve()
    bridge = StageBridge(scenes.a_view(history, silo=silo))
    staged_home.stage(bridge)
    bridge.view.take(scenes.ANSWERED)
    if offered:
        bridge.replies[GetCatalogue] = CatalogueIs(models=catalogue())
    page = HomePage(bridge.view, bridge, Actions(bridge.view, bridge))
    # Of 1280x800 a panel, the window's frame and the list of pages leave so much.
    shown(qtbot, page, 1264 - 208, 740)
    qtbot.wait(50)
    assert page._next.isVisible() == offered
    assert page.verticalScrollBar().maximum() == 0


def test_card_line_and_caption_say_one_share_of_the_swarm(qtbot: QtBot) -> None:
    view = scenes.a_view(scenes.swarm_curve(), silo=False)
    bridge = StageBridge(view)
    page = shown(qtbot, HomePage(view, bridge, Actions(view, bridge)), 1000, 900)
    shares = view.curves.shares()
    assert shares is not None
    said = numbers.percent(shares.mine), numbers.percent(shares.others)
    assert "{} vs {}".format(*said) in texts(page)
    page._chart.shown.chosen.emit("training")
    assert "solved here: {} · median of 11 peers: {} (".format(*said) in page._chart._words.text()
    (shade,) = [one for one in page._chart.chart.layers() if isinstance(one, Shade)]
    assert shade.holds[0] and not shade.holds[-1], "it began in silo"
    page._chart.chart.show_last(100)  # else a point is the mean of several rounds
    lines = [one for one in page._chart.chart.layers() if isinstance(one, Line)]
    ends = [float(one.y[-1]) for one in lines if one.width == 2.2 and len(one.y) and one.y[-1] == one.y[-1]]
    assert ends[0] == pytest.approx(shares.others)


def test_the_next_model_is_offered_once_and_begins_by_one_press(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view(scenes.swarm_curve(40), silo=False))
    badge = next(one for one in catalogue() if one.id == "smollm2-135m")
    offered = msgspec.structs.replace(badge, here="", round_seconds=12.0, badge="fits")
    bridge.replies[GetCatalogue] = CatalogueIs(models=[offered])
    bridge.replies[DownloadModel] = Ok()
    page = shown(qtbot, HomePage(bridge.view, bridge, Actions(bridge.view, bridge)), 1000, 900)
    card = page._next
    assert "SmolLM2 135M Instruct" in card.text and "269 MB" in card.text and "12 s" in card.text
    card.button.click()
    assert bridge.asked_for(DownloadModel) == [DownloadModel(model="smollm2-135m")] and not card.button.isEnabled()
    bridge.tell(ModelInstalled(model="smollm2-135m", installed=installed("smollm2-135m", "x/y", 5), path="/models/x"))
    page.refresh(frozenset({"models"}))
    (order,) = bridge.asked_for(SetSettings)
    assert order.values["model"] == "smollm2-135m"
    assert card.isVisible()
    card._put_away()
    page.refresh(frozenset({"curves"}))
    assert not card.isVisible() and bridge.view.quiet, "put away for good"


@pytest.mark.parametrize(
    ("changes", "silo", "found"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"here": "smollm2-135m"}, True, True),
        ({"round_seconds": 61.0}, False, False),
        ({"badge": "too big"}, False, False),
        ({"gate": "account"}, False, False),
    ],
)
def test_only_a_model_that_can_be_had_and_is_quick_enough_is_offered(
    changes: dict[str, object], silo: bool, found: bool
) -> None:
    badge = next(one for one in catalogue() if one.id == "smollm2-135m")
    plain = {"here": "", "round_seconds": 12.0, "badge": "fits", "gate": "open"}
    offered = msgspec.structs.replace(badge, **(plain | changes))
    assert (next_model([offered], 60, silo=silo) is not None) == found


def test_a_week_is_one_line_with_what_was_learned_and_what_it_cost(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    bridge.tell(Lost(reason="It was killed."))
    bridge.tell(scenes.a_view().link)
    page.refresh(frozenset({"link"}))
    said = " ".join(texts(page))
    assert "Last 7 days: 412 rounds · 19,310 right answers · 71% → 73% of new questions" in said and "0.36 kWh" in said
    assert ("7 computers helped" in said) == (not bridge.view.silo)
    priced = msgspec.structs.replace(bridge.view.settings, price_per_kwh=0.5)
    bridge.tell(SettingsChanged(now=SettingsAre(settings=priced, changed=["price_per_kwh"], overridden=[])))
    page._show_week(bridge.replies[GetWeek])
    assert "0.36 kWh, cost 0.18" in " ".join(texts(page))
    bridge.replies[GetWeek] = Week()
    page.refresh(frozenset({"link"}))
    assert "Last 7 days" not in " ".join(texts(page)), "a new node has no week"


def test_the_energy_is_known_as_soon_as_there_is_a_node(qtbot: QtBot) -> None:
    page, bridge = home(qtbot)
    bridge.tell(Lost(reason="It was killed."))
    bridge.tell(scenes.a_view().link)
    page.refresh(frozenset({"link"}))
    assert "0.81 kWh" in texts(page)


@pytest.mark.parametrize(("name", "first"), [("rounds.csv", "round,reward,solved"), ("rounds.jsonl", '{"round": 1,')])
def test_all_rounds_are_saved_page_by_page(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, first: str
) -> None:
    page, bridge = home(qtbot, scenes.silo_curve())
    rounds = scenes.reports(5, 5)
    bridge.replies[GetHistory] = lambda asked: History(
        rounds=[one for one in rounds if one.round > asked.after][:2], more=asked.after < 3
    )
    monkeypatch.setattr(home_chart, "ask_save_path", lambda *asked: str(tmp_path / name))
    said: list[str] = []
    bridge.said.connect(said.append)
    button(page, "Save all rounds as CSV or JSON").click()
    lines = (tmp_path / name).read_text().splitlines()
    assert lines[0].startswith(first) and len(lines) == 5 + name.endswith("csv")
    assert said == [f"Saved 5 rounds to {tmp_path / name}"]


def test_rounds_that_cannot_be_saved_say_why(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page, bridge = home(qtbot, scenes.silo_curve())
    bridge.replies[GetHistory] = UsageError("The history is damaged.")
    troubles: list[str] = []
    bridge.trouble.connect(troubles.append)
    save = button(page, "Save all rounds as CSV or JSON")
    for to, why in (("no/rounds.csv", "No such file"), ("rounds.csv", "The history is damaged.")):
        monkeypatch.setattr(home_chart, "ask_save_path", lambda *asked, to=to: str(tmp_path / to))
        save.click()
        assert why in troubles[-1] and save.isEnabled()
