"""The Model page: what it shows, what it asks of the worker, and how it answers errors and strangers."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import DownloadError, IdentityError, InSilo, ModelError, SapoError, UsageError
from sapo_desktop.core.records import Gain
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.link.attachment import Lost
from sapo_desktop.gui.model import checkpoints as model_checkpoints
from sapo_desktop.gui.model import export as model_export
from sapo_desktop.gui.model import page as model_page
from sapo_desktop.gui.model.export import ExportSheet
from sapo_desktop.gui.model.page import ModelPage
from sapo_desktop.gui.model.transfer import HubSheet, TokenSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.words import numbers
from sapo_desktop.view.viewmodel import ALL, View
from sapo_desktop.worker.control.messages.events import CheckpointsChanged, PhaseChanged, Progressed, SettingsChanged
from sapo_desktop.worker.control.messages.facts import GetModelInfo
from sapo_desktop.worker.control.messages.models import (
    CancelModelWork,
    DownloadModel,
    GetCatalogue,
    GetEstimates,
    GetFit,
    GetModels,
    HubModelsAre,
    ImportModel,
    ModelFailed,
    ModelsAre,
    RemoveModel,
    SearchHub,
    SetHubToken,
)
from sapo_desktop.worker.control.messages.replies import Checkpoints, Compared, Comparison, Comparisons, SettingsAre
from sapo_desktop.worker.control.messages.requests import (
    Evaluate,
    ExportModel,
    GetComparisons,
    ListCheckpoints,
    RollBack,
    SetSettings,
)
from tests.gui import scenes, staged_model
from tests.gui.driving import PageScene, all_texts, cells, press, shown
from tests.gui.late import LateBridge
from tests.gui.stage import StageBridge
from tests.gui.staged_model import DONE, PROGRESS, REFUSED

FREE = {"max_tokens": "0", "learning_rate": "0.0"}
"""What is chosen with a model, where its own is to hold."""


class Scene(PageScene):
    def __init__(self, qtbot: QtBot, kind: Callable[[View], StageBridge] = StageBridge, **settings: object) -> None:
        self.view = scenes.a_view(scenes.swarm_curve(900), **({"silo": False} | settings))
        self.bridge = kind(self.view)
        staged_model.stage(self.bridge)
        self.page = shown(qtbot, ModelPage(self.view, self.bridge, Actions(self.view, self.bridge)))

    def nothing_learned(self) -> None:
        self.bridge.replies[ListCheckpoints] = Checkpoints(items=staged_model.checkpoints().items[:1])
        self.bridge.tell(CheckpointsChanged())

    def choose(self, name: str) -> Any:
        """Select a model; returns its details."""
        self.page._models.table.select([name])
        return self.page._models.details


# -- at work, memory ------------------------------------------------------------------------------------------


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    return Scene(qtbot)


def test_the_model_at_work_in_numbers_and_one_that_only_answers(scene: Scene) -> None:
    said = all_texts(scene.page._at_work)
    assert "Starter" in said and "Answers and learns with PyTorch, on 4 thread" in said
    assert "1.9 million" in said and "612 MB" in said and "estimated: 381 MB" in said
    assert "on the processor, float32" in said
    scene.bridge.replies[GetModelInfo] = msgspec.structs.replace(
        staged_model.INFO, generator="llama.cpp", trainer="none", kind="gguf", micro_batch=0, notes=["It only answers."]
    )
    scene.page._at_work.inquiry.ask()
    said = all_texts(scene.page._at_work)
    assert "Answers with llama.cpp, learns nothing" in said and "Answers only" in said and "It only answers." in said


def test_what_fits_is_a_table_and_why_nothing_bigger_unfolds(scene: Scene) -> None:
    memory = scene.page._memory
    said = all_texts(memory)
    assert "This computer has 16.3 GB of memory, of which 11.2 GB are free for a model" in said and "Qwen3 0.6B" in said
    first, *_, best = cells(memory._ways)
    assert first == ["Answers with llama.cpp (Q8_0), learns nothing", "computer", "8.8 GB", "11.2 GB", "Fits"]
    assert best[0] == "Answers and learns with PyTorch (float32)" and best[-1] == "Best mode"
    assert not memory._bigger.isVisible()
    press(memory._why)
    assert memory._bigger.isVisible() and "Qwen3 8B" in all_texts(memory)


# -- models ---------------------------------------------------------------------------------------------------


def test_the_search_of_the_hub_is_not_there_while_models_are_looked_for(qtbot: QtBot) -> None:
    bridge = StageBridge(scenes.a_view())
    staged_model.stage(bridge)
    del bridge.replies[GetCatalogue]
    page = shown(qtbot, ModelPage(bridge.view, bridge, Actions(bridge.view, bridge)))
    assert page._models.table.isVisible() and not page._models.search.isVisible()
    assert page._models.table.rows == [], "one here would have neither name nor badges, and be selected"


def test_the_list_has_badges_with_numbers_and_can_be_narrowed_down(scene: Scene) -> None:
    rows = {row[0]: row for row in cells(scene.page._models.table)}
    assert rows["Starter"][1:4] == ["In use", "Fits", "381 MB"]
    assert rows["SmolLM2 135M Instruct"][1] == "On this computer"
    assert rows["Qwen2.5 0.5B Instruct"][1] == "Unfinished"
    assert rows["Qwen3 8B"][2] == "Too big" and rows["old-model"][1] == "Damaged"
    assert "34.1 GB to learn; 11.2 GB are free" in all_texts(scene.choose("qwen3-8b"))
    scene.page._models._which.buttons["here"].click()
    here = {"Starter", "SmolLM2 135M Instruct", "Qwen2.5 0.5B Instruct", "owner--small-gguf", "old-model", "gemma3:4b"}
    assert {row[0] for row in cells(scene.page._models.table)} == here


def test_a_download_begins_and_shows_how_far_it_is(scene: Scene) -> None:
    details = scene.choose("smollm2-360m")
    assert "About 724 MB to download, which leaves 68.0 GB free on the disk." in all_texts(details)
    press(details.download_button)
    assert scene.bridge.asked_for(DownloadModel) == [DownloadModel(model="smollm2-360m")]
    scene.bridge.tell(PROGRESS)
    said = all_texts(scene.page._transfer)
    assert "512 MB of 988 MB, 12.3 MB/s, 39 s left" in said
    assert scene.page._transfer._bar.value() == 518
    assert not details.download_button.isEnabled() and not scene.page._ways.folder.isEnabled()
    press(scene.page._transfer.cancel)
    assert len(scene.bridge.asked_for(CancelModelWork)) == 1


def test_a_download_that_the_window_did_not_see_begin_is_shown(scene: Scene) -> None:
    scene.bridge.replies[GetModels] = ModelsAre(folder="/m", contents=staged_model.CONTENTS, working=PROGRESS)
    scene.page._models.ask()
    assert "512 MB of 988 MB" in all_texts(scene.page._transfer)


def test_a_model_of_another_program_is_chosen_where_it_lies(scene: Scene) -> None:
    scene.nothing_learned()
    details = scene.choose(staged_model.FOUND.path)
    said = all_texts(details)
    assert "gemma3:4b" in said and "Ollama stores it on this computer." in said and "3.3 GB on this computer." in said
    assert "Answers only" in said and "of the kind" in said
    assert not details.remove_button.isVisible() and not details.download_button.isVisible()
    press(details.use_button)
    (change,) = scene.bridge.asked_for(SetSettings)
    assert change.values["model"] == staged_model.FOUND.path


def test_a_finished_download_is_reported_and_the_list_is_asked_for_again(scene: Scene) -> None:
    scene.bridge.tell(PROGRESS)
    before = len(scene.bridge.asked_for(GetModels))
    scene.bridge.tell(DONE)
    assert "Qwen2.5 0.5B Instruct is installed (988 MB)" in all_texts(scene.page._transfer)
    assert len(scene.bridge.asked_for(GetModels)) == before + 1
    scene.page.closed()
    scene.page.refresh(ALL)
    assert "is installed" not in all_texts(scene.page._transfer)


def test_a_refused_download_leads_to_the_account_and_a_cancelled_one_is_no_error(scene: Scene) -> None:
    scene.bridge.tell(REFUSED)
    assert "wants an account" in all_texts(scene.page._transfer)
    press(scene.page._transfer.news.button)
    assert scene.sheet(TokenSheet)
    scene.bridge.tell(ModelFailed(model="m", kind="HostCancelled", text="m: cancelled."))
    assert "Download again to continue where it stopped" in all_texts(scene.page._transfer)
    assert scene.page._transfer.news.property("tone") == "plain"


def test_in_silo_nothing_is_downloaded_and_it_says_so(qtbot: QtBot) -> None:
    scene = Scene(qtbot, silo=True)
    details = scene.choose("smollm2-360m")
    assert not details.download_button.isEnabled() and "In silo nothing is downloaded" in all_texts(details)
    assert not scene.page._ways.other.isEnabled() and scene.page._ways.folder.isEnabled()


def test_a_model_is_removed_only_after_a_question(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    details = scene.choose("smollm2-135m")
    monkeypatch.setattr(model_page, "confirm", lambda *args, **named: False)
    press(details.remove_button)
    assert scene.bridge.asked_for(RemoveModel) == []
    monkeypatch.setattr(model_page, "confirm", lambda *args, **named: True)
    press(details.remove_button)
    assert scene.bridge.asked_for(RemoveModel) == [RemoveModel(name="smollm2-135m")]
    assert not scene.choose("starter").remove_button.isVisible()


def test_imports_are_asked_for_by_path(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_page, "ask_folder", lambda *args: "/home/me/model")
    press(scene.page._ways.folder)
    monkeypatch.setattr(model_page, "ask_open_path", lambda *args: "")
    press(scene.page._ways.file)
    assert scene.bridge.asked_for(ImportModel) == [ImportModel(path="/home/me/model")]


def search(scene: Scene, qtbot: QtBot, words: str = "small") -> Any:
    """Search the hub; returns the search."""
    scene.page._models._which.buttons["hub"].click()
    found = scene.page._models.search
    found.words.setText(words)
    qtbot.keyClick(found.words, Qt.Key.Key_Return)
    return found


def test_a_search_shows_size_time_memory_and_whether_it_learns(scene: Scene, qtbot: QtBot) -> None:
    before = {row[0] for row in cells(scene.page._models.table)}
    found = search(scene, qtbot)
    assert scene.bridge.asked_for(SearchHub) == [SearchHub(words="small")]
    rows = {row[0]: row for row in cells(scene.page._models.table)}
    assert list(rows) == [hit.repository for hit in staged_model.HITS], "the most downloaded first"
    takes = staged_model.estimates(GetEstimates(hub=staged_model.HITS)).estimates["o/small-chat"]
    assert rows["o/small-chat"][2:5] == ["Fits", numbers.size(takes.estimate), numbers.span(takes.round_seconds)]
    assert rows["p/small-8b"][2] == "Too big" and rows["p/small-gemma-GGUF"][4] == "answers only"
    assert "17 more cannot run here." in all_texts(found)
    details = scene.choose("o--small-chat-GGUF--s.Q8_0")
    assert "About 386 MB to download" in all_texts(details)
    press(details.download_button)
    assert scene.bridge.asked_for(DownloadModel)[-1] == DownloadModel(model="o/small-chat-GGUF", files=["s.Q8_0.gguf"])
    scene.bridge.tell(msgspec.structs.replace(PROGRESS, model="o/small-chat-GGUF"))
    assert "52%" in {row[0]: row for row in cells(scene.page._models.table)}["o/small-chat-GGUF"][1]
    assert "Needs an account" in all_texts(scene.choose("p--small-8b"))
    scene.page._models._which.buttons["all"].click()
    assert {row[0] for row in cells(scene.page._models.table)} == before, "results are no models of this computer"


def test_a_search_says_why_it_found_nothing(scene: Scene, qtbot: QtBot) -> None:
    scene.bridge.replies[SearchHub] = DownloadError("The hub does not answer like a hub.")
    found = search(scene, qtbot)
    assert "does not answer like a hub" in all_texts(found) and not cells(scene.page._models.table)
    scene.bridge.replies[SearchHub] = HubModelsAre(models=[])
    for _ in range(2):  # the same answer again is one, too
        press(found.button)
        assert "no model of these words that runs here: small" in all_texts(found)
    scene.settings(silo=True)
    assert "In silo the hub is not asked." in all_texts(found) and not found.button.isEnabled()
    asked = len(scene.bridge.asked_for(SearchHub))
    qtbot.keyClick(found.words, Qt.Key.Key_Return)
    assert len(scene.bridge.asked_for(SearchHub)) == asked


def test_models_that_the_catalogue_does_not_have_say_how_long_a_round_takes(scene: Scene) -> None:
    own = next(row for row in cells(scene.page._models.table) if row[0] == "owner--small-gguf")
    takes = staged_model.estimates(GetEstimates(models=["x"])).estimates["x"]
    assert own[2:5] == ["Fits", numbers.size(takes.estimate), numbers.span(takes.round_seconds)]
    found = next(row for row in cells(scene.page._models.table) if row[0] == "gemma3:4b")
    assert found[4] == "answers only"


def test_a_model_of_the_catalogue_that_was_imported_under_another_name_is_one_row(scene: Scene) -> None:
    scene.nothing_learned()
    badges = [
        msgspec.structs.replace(badge, here="owner--small-gguf" if badge.id == "smollm2-135m" else badge.here)
        for badge in staged_model.catalogue()
    ]
    contents = msgspec.structs.replace(staged_model.CONTENTS, models=staged_model.CONTENTS.models[1:])
    scene.bridge.replies |= {
        GetCatalogue: staged_model.CatalogueIs(models=badges),
        GetModels: ModelsAre(folder="/m", contents=contents),
    }
    scene.page._models.ask()
    rows = {row[0]: row for row in cells(scene.page._models.table)}
    assert rows["SmolLM2 135M Instruct"][1] == "On this computer" and "owner--small-gguf" not in rows
    press(scene.choose("owner--small-gguf").use_button)
    assert scene.bridge.asked_for(SetSettings)[-1].values["model"] == "owner--small-gguf"


def test_another_model_of_the_hub(scene: Scene, qtbot: QtBot) -> None:
    press(scene.page._ways.other)
    sheet = scene.sheet(HubSheet)
    qtbot.keyClicks(sheet._name, "nonsense")
    qtbot.keyClick(sheet._name, Qt.Key.Key_Return)
    assert "OWNER/NAME" in all_texts(sheet) and scene.bridge.asked_for(DownloadModel) == []
    sheet._name.setText("owner/name@v1")
    sheet._files.setText("a.gguf, b.gguf")
    scene.bridge.replies[DownloadModel] = InSilo("This node is in silo.")
    press(sheet.ok)
    assert "This node is in silo." in all_texts(sheet)
    scene.bridge.replies[DownloadModel] = staged_model.Ok()
    press(sheet.ok)
    assert scene.bridge.asked_for(DownloadModel)[-1] == DownloadModel(model="owner/name@v1", files=["a.gguf", "b.gguf"])
    assert not sheet.isVisible()


def test_the_token_is_never_shown(scene: Scene, qtbot: QtBot) -> None:
    press(scene.choose("llama-3.2-1b").token_button)
    sheet = scene.sheet(TokenSheet)
    assert sheet._token.echoMode() is QLineEdit.EchoMode.Password and not sheet.keep.isEnabled()
    qtbot.keyClicks(sheet._token, "hf_secret")
    scene.bridge.replies[SetHubToken] = IdentityError("There is no keyring here.")
    press(sheet.keep)
    assert "There is no keyring here." in all_texts(sheet)
    scene.bridge.replies[SetHubToken] = staged_model.Ok()
    press(sheet.keep)
    assert scene.bridge.asked_for(SetHubToken)[-1] == SetHubToken(token="hf_secret")
    press(scene.page._models.details.token_button)
    press(scene.sheet(TokenSheet).forget)
    assert scene.bridge.asked_for(SetHubToken)[-1] == SetHubToken(token=None)


# -- using another model --------------------------------------------------------------------------------------


def test_another_model_can_wait_for_the_round_begin_now_or_be_taken_back(scene: Scene) -> None:
    scene.nothing_learned()
    press(scene.choose("smollm2-135m").later_button)
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values={"model": "smollm2-135m"} | FREE)]
    scene.settings(waiting=("model",), wanted=Settings(model="smollm2-135m"))
    assert "After this round: SmolLM2 135M Instruct." in all_texts(scene.page)
    assert cells(scene.page._models.table)[1][1] == "After this round"
    press(scene.page._waiting.button)
    now = SetSettings(values={"model": "smollm2-135m"}, at_once=True)
    assert scene.bridge.asked_for(SetSettings)[-1] == now
    press(scene.page._waiting.cancel)
    assert scene.bridge.asked_for(SetSettings)[-1].values["model"] == "starter"
    scene.settings(model="smollm2-135m")
    assert not scene.page._waiting.isVisible()
    assert cells(scene.page._models.table)[0][1] == "In use"


def test_the_model_chosen_for_this_computer_says_so_with_both_numbers(scene: Scene) -> None:
    scene.nothing_learned()
    badges = [
        msgspec.structs.replace(badge, here="qwen3-0.6b" if badge.id == "qwen3-0.6b" else badge.here)
        for badge in staged_model.catalogue()
    ]
    scene.bridge.replies[GetCatalogue] = staged_model.CatalogueIs(models=badges)
    scene.page._models.ask()
    details = scene.choose("qwen3-0.6b")
    assert "Chosen for this computer" in all_texts(details)
    way = staged_model.a_fit().chosen
    assert way.model == "qwen3-0.6b"
    size, span = numbers.size(way.estimate), numbers.span(way.round_seconds)
    assert f"The largest model with rounds of at most a minute here is Qwen3 0.6B. It needs {size}" in all_texts(
        scene.page
    )
    row = next(row for row in cells(scene.page._models.table) if row[0] == "Qwen3 0.6B")
    assert size in row and span in row and f"A round takes about {span}" in all_texts(details)
    press(details.use_button)
    now = SetSettings(values={"model": "qwen3-0.6b"} | FREE, at_once=True)
    assert scene.bridge.asked_for(SetSettings) == [now]


def test_a_model_other_than_the_learned_is_asked_about(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, said = Scene(qtbot), []
    monkeypatch.setattr(model_page, "confirm", lambda parent, title, about, *rest: said.append(about))
    press(scene.choose("smollm2-135m").use_button)
    assert scene.bridge.asked_for(SetSettings) == []
    assert said[0].startswith("What Starter learned stays on this computer; choose it again to continue.")
    monkeypatch.setattr(model_page, "confirm", lambda *args, **named: True)
    press(scene.choose("smollm2-135m").use_button)
    now = SetSettings(values={"model": "smollm2-135m"} | FREE, at_once=True)
    assert scene.bridge.asked_for(SetSettings) == [now]


def test_one_can_stay_with_the_model_at_work(scene: Scene) -> None:
    scene.settings(answers=4, max_tokens=64, learning_rate=0.001, waiting=("model",))
    press(scene.choose("starter").use_button)
    values = {"model": "starter", "max_tokens": "64", "learning_rate": "0.001"}
    assert scene.bridge.asked_for(SetSettings) == [SetSettings(values=values)]


# -- checkpoints ----------------------------------------------------------------------------------------------


def test_a_checkpoint_of_another_model_is_of_no_use_to_the_one_at_work(scene: Scene) -> None:
    items = [msgspec.structs.replace(item, other_model=item.number == 898) for item in staged_model.checkpoints().items]
    scene.bridge.replies[ListCheckpoints] = Checkpoints(items=items)
    scene.bridge.tell(CheckpointsChanged())
    card = scene.page._checkpoints
    for number, usable in ((898, False), (899, True)):
        card.table.select([number])
        assert [button.isEnabled() for button in (card.score, card.back, card.export)] == [usable] * 3
    assert "from another model" in [which for _, which, *_ in cells(card.table)]


def test_checkpoints_with_their_scores_and_which_they_are(scene: Scene) -> None:
    rows = cells(scene.page._checkpoints.table)
    assert rows[0][:2] == ["900", "last"] and rows[-1][0] == "Base"
    best = next(row for row in rows if row[1] == "best")
    assert best[0] == "800" and best[3].startswith("7") and " to " in best[3]
    scene.nothing_learned()
    assert [row[0] for row in cells(scene.page._checkpoints.table)] == ["Base"], "others are asked for when they come"


def test_two_models_are_compared_on_the_same_questions(scene: Scene) -> None:
    ours, other = (
        Compared(hash="a", name="smollm2-135m", base=0.03, now=0.22),
        Compared(hash="b", name="starter", base=0.1, now=0.4),
    )
    one = Comparison(
        questions=120, which="validation", ours=ours, other=other, difference=Gain(value=-0.18, low=-0.26, high=-0.1)
    )
    for gain, words in (
        (one.difference, "Starter leads by +10\u00a0to\u00a0+26 points."),
        (Gain(value=0.01, low=-0.05, high=0.07), "The difference may be chance."),
    ):
        items = [msgspec.structs.replace(one, difference=gain)]
        scene.bridge.replies[GetComparisons] = Comparisons(items)
        scene.bridge.tell(CheckpointsChanged())
        said = all_texts(scene.page._checkpoints)
        assert "The same 120 held-out questions: SmolLM2 135M Instruct 3% → 22%, Starter 10% → 40%." in said
        assert words in said


def test_going_back_is_asked_first_and_not_to_where_it_stands(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    card = scene.page._checkpoints
    card.table.select([900])
    assert not card.back.isEnabled()
    card.table.select([0])
    monkeypatch.setattr(model_checkpoints, "confirm", lambda *args, **named: False)
    press(card.back)
    assert scene.bridge.asked_for(RollBack) == []
    monkeypatch.setattr(model_checkpoints, "confirm", lambda *args, **named: True)
    press(card.back)
    card.table.select([800])
    press(card.back)
    assert [request.to for request in scene.bridge.asked_for(RollBack)] == ["base", "800"]


def test_a_score_is_taken_in_the_background_and_can_be_cancelled(qtbot: QtBot) -> None:
    scene = Scene(qtbot, LateBridge)
    bridge = scene.bridge
    assert isinstance(bridge, LateBridge)
    bridge.deliver()
    card, box = scene.page._checkpoints, scene.page._checkpoints.scoring
    card.table.select([800])
    press(card.score)
    box._which.show_choice("test")
    press(box.begin)
    assert not card.score.isEnabled() and "Waiting for the model" in all_texts(box)
    bridge.tell(PhaseChanged(round=901, phase="evaluate"), Progressed(round=901, phase="evaluate", done=40, total=400))
    assert "40 of 400 questions" in all_texts(box)
    press(box.cancel)
    assert bridge.cancelled == 1 and box.begin.isVisible()
    bridge.deliver()
    assert "Solved" not in all_texts(box)
    press(box.begin)
    bridge.deliver()
    assert bridge.asked_for(Evaluate)[-1] == Evaluate(checkpoint="800", which="test")
    assert "Solved 73% of 400 questions (69% to 78%)" in all_texts(box)
    assert card.score.isEnabled()


def test_a_score_that_fails_says_why(scene: Scene) -> None:
    scene.bridge.replies[Evaluate] = ModelError("The checkpoint is damaged.")
    press(scene.page._checkpoints.score)
    press(scene.page._checkpoints.scoring.begin)
    assert "The checkpoint is damaged." in all_texts(scene.page._checkpoints)
    assert not scene.page._checkpoints.scoring.busy


def test_export_asks_where_to_and_in_which_format(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.page._checkpoints.table.select([800])
    press(scene.page._checkpoints.export)
    sheet = scene.sheet(ExportSheet)
    assert not sheet.ok.isEnabled()
    monkeypatch.setattr(model_export, "ask_folder", lambda *args: "/home/me")
    press(sheet.choose)
    sheet._format.buttons["gguf"].click()
    assert "LM Studio" in all_texts(sheet)
    press(sheet.ok)
    (request,) = scene.bridge.asked_for(ExportModel)
    assert (request.format, request.checkpoint) == ("gguf", "800")
    assert request.to.endswith("sapo-gguf-800")
    assert "2 file" in all_texts(sheet)
    scene.bridge.replies[ExportModel] = UsageError("The folder is in use.")
    press(sheet.ok)
    assert "The folder is in use." in all_texts(sheet)


def exporting(qtbot: QtBot) -> tuple[ExportSheet, LateBridge]:
    """The dialog while files are written."""
    scene = Scene(qtbot, lambda view: LateBridge(view, ExportModel))
    scene.page._checkpoints.table.select([800])
    press(scene.page._checkpoints.export)
    sheet = scene.sheet(ExportSheet)
    qtbot.keyClicks(sheet._folder, "/home/me/new")
    press(sheet.ok)
    return sheet, scene.bridge  # type: ignore[return-value]


def test_one_export_at_a_time(qtbot: QtBot) -> None:
    sheet, bridge = exporting(qtbot)
    sheet._format.buttons["gguf"].click()
    qtbot.keyClicks(sheet._folder, "er")
    assert not sheet.ok.isEnabled() and not sheet.choose.isEnabled()
    assert (sheet._format.current, sheet._folder.text()) == ("peft", "/home/me/new")
    bridge.deliver()
    assert sheet.back.text() == "Close" and sheet.ok.isEnabled()
    sheet._format.buttons["gguf"].click()
    press(sheet.ok)
    assert sheet.back.text() == "Cancel", "that is what it does now"
    assert [request.format for request in bridge.asked_for(ExportModel)] == ["peft", "gguf"]


@pytest.mark.parametrize(
    "leave",
    [lambda qtbot, sheet: press(sheet.back), lambda qtbot, sheet: qtbot.keyClick(sheet, Qt.Key.Key_Escape),
     lambda qtbot, sheet: sheet.close()],
    ids=["button", "key", "frame"],
)  # fmt: skip
def test_leaving_an_export_ends_it(qtbot: QtBot, leave: Callable[[QtBot, ExportSheet], object]) -> None:
    sheet, bridge = exporting(qtbot)
    leave(qtbot, sheet)
    assert bridge.cancelled == 1


# -- errors, no node, late answers, strangers -----------------------------------------------------------------


def test_errors_are_shown_where_they_belong_and_can_be_tried_again(scene: Scene) -> None:
    page = scene.page
    for kind, inquiry, card in (
        (GetModelInfo, page._at_work.inquiry, page._at_work),
        (GetFit, page._memory.inquiry, page._memory),
        (GetCatalogue, page._models.catalogue, page._models),
        (GetModels, page._models.models, page._models),
        (ListCheckpoints, page._checkpoints.inquiry, page._checkpoints),
    ):
        good = scene.bridge.replies[kind]
        scene.bridge.replies[kind] = SapoError("It did not answer.")
        inquiry.ask()
        assert "It did not answer." in all_texts(card)
        scene.bridge.replies[kind] = good
        press(inquiry.trouble.button)
        assert "It did not answer." not in all_texts(card)


def test_without_a_node_it_says_why_and_offers_nothing_in_vain(scene: Scene) -> None:
    scene.choose("smollm2-135m")
    scene.bridge.tell(Lost(reason="It was killed."))
    assert "It was killed." in all_texts(scene.page)
    details, checkpoints = scene.page._models.details, scene.page._checkpoints
    buttons = (details.use_button, details.remove_button, checkpoints.score, checkpoints.export)
    assert not any(button.isEnabled() for button in buttons)


def test_a_model_that_is_gone_is_replaced_by_another_one_or_by_the_programs_choice(qtbot: QtBot) -> None:
    view = View(clock=lambda: scenes.NOW)
    bridge = StageBridge(view)
    staged_model.stage(bridge)
    page = shown(qtbot, ModelPage(view, bridge, Actions(view, bridge)))
    gone = SettingsAre(settings=Settings(model="/gone", generator="llama.cpp"), changed=["model"], overridden=[])
    bridge.tell(Lost(reason="There is no model '/gone'.", remedy="model"), SettingsChanged(now=gone))
    assert "The node cannot start: There is no model '/gone'." in all_texts(page)
    assert not bridge.asked_for(GetModelInfo) and not page._at_work.isVisible() and not page._checkpoints.isVisible()
    assert "In use" not in {row[1] for row in cells(page._models.table)}

    page._models.table.select(["smollm2-135m"])
    press(page._models.details.use_button)
    assert bridge.asked_for(SetSettings)[-1].values["model"] == "smollm2-135m"
    press(page._away.button)
    values = bridge.asked_for(SetSettings)[-1].values
    assert values["model"] == "smollm2-135m", "the largest that is here and fits"
    assert values["generator"] == "auto" and values["device"] == "auto"

    bridge.tell(Lost(reason="That is no address.", remedy="settings"))
    assert page._away.isVisible() and not page._away.button.isVisible(), "another model does not help"

    bridge.tell(scenes.a_view().link)
    assert page._at_work.isVisible() and not page._away.isVisible()


def test_a_page_that_was_never_attached_is_empty_and_calm(qtbot: QtBot) -> None:
    view = View(clock=lambda: scenes.NOW)
    bridge = StageBridge(view)
    page = ModelPage(view, bridge, Actions(view, bridge))
    qtbot.addWidget(page)
    page.show()
    page.refresh(ALL)
    assert bridge.asked == [] and "No model is selected" in all_texts(page)


def test_answers_that_come_after_the_page_was_closed_do_no_harm(qtbot: QtBot) -> None:
    scene = Scene(qtbot, LateBridge)
    assert isinstance(scene.bridge, LateBridge)
    scene.page.closed()
    scene.page.hide()
    scene.bridge.deliver()
    assert len(cells(scene.page._models.table)) == 17
