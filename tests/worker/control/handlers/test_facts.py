"""The worker's facts about itself, as data and as a file that users may share."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import HostDied, SapoError
from sapo_desktop.core.records import Check
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.tasks.limits import Limits
from sapo_desktop.worker.control.handlers import facts
from sapo_desktop.worker.control.handlers.facts import FactRequests, model_size
from sapo_desktop.worker.control.messages.facts import Diagnose, Examine, GetLog, GetModelInfo, GetNotices, Notice
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from tests.builders import loaded
from tests.worker.fakes import FakeExaminer
from tests.worker.test_node import SETTINGS, Scene

LOADED = loaded(parameters=135_000_000)
SAID = [Notice(level="warning", text="Out of memory.", time=5.0)]


class Examiner(FakeExaminer):
    error: SapoError | None = None

    async def limits(self) -> Limits:
        if self.error is not None:
            raise self.error
        return Limits(**dict.fromkeys(Limits.__struct_fields__, "held"))


class Outside:
    """The swarm's side of a node that is in none; a test that makes it dial is wrong."""

    def info(self) -> SwarmInfo:
        return SwarmInfo(state="silo", reason="In silo: no network at all.")

    async def test(self, address: str) -> PeerAnswered:
        raise AssertionError(f"{address} was dialled in silo")


HERE = Check(name="disk", state="bad", found="No room for /home/anna.", advice="Make room.")


class Asked:
    """A node of which one asks facts."""

    def __init__(self, folder: Path) -> None:
        self.scene = Scene(folder / "node", SETTINGS, 1e9)
        self.node = self.scene.node
        self.node.examiner = self.examiner = Examiner()  # type: ignore[assignment]
        self.engine = self.scene.engine
        self.engine.said, self.engine.versions = ["One card."], {"torch": "2.13.0"}  # type: ignore[attr-defined]
        self.folder = DataFolder.at(folder / "node")
        catalogue = Catalogue(families=(), left_out={"bad": "It is bad."})
        side: Any = Outside()
        self.facts = FactRequests(self.node, side, self.folder, lambda: SAID, catalogue)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setattr(facts, "computer_checks", lambda *about: [HERE])
    (tmp_path / "node" / "logs").mkdir(parents=True)
    return Asked(tmp_path)


async def test_the_model_at_work_is_reported_as_data(asked: Asked, tmp_path: Path) -> None:
    model = tmp_path / "SmolLM2-135M"
    model.mkdir()
    (model / "model.safetensors").write_bytes(bytes(1000))
    asked.engine.loaded, asked.engine.parameters = LOADED, LOADED.parameters
    asked.engine.plan = dataclasses.replace(asked.engine.plan, model=model, threads=3, estimate=5000)
    asked.engine.host.pid = os.getpid()
    info = await asked.facts.model(GetModelInfo())
    assert (info.name, info.kind, info.parameters, info.bytes) == (
        "SmolLM2-135M",
        "transformers",
        135_000_000,
        1000,
    )
    assert (info.device, info.dtype, info.generator, info.trainer) == ("cpu", "float32", "torch", "torch")
    assert (info.threads, info.micro_batch, info.max_tokens, info.memory_estimate) == (3, 16, 512, 5000)
    assert info.memory_used is not None and info.memory_used > 2**20 and info.memory_free > 0
    assert info.notes[0] == "One card."


async def test_before_anything_runs_or_is_known_that_is_what_is_reported(asked: Asked) -> None:
    asked.engine.host.pid = None
    asked.engine.trains = False
    asked.engine.plan = dataclasses.replace(asked.engine.plan, model=Path("/gone/model.gguf"))
    info = await asked.facts.model(GetModelInfo())
    assert (info.name, info.kind, info.bytes, info.trainer, info.micro_batch) == ("model", "gguf", 0, "none", 0)
    assert (info.memory_used, info.memory_estimate, info.device) == (None, None, "")


def test_the_size_of_a_model_is_that_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(bytes(10))
    (tmp_path / "b.safetensors").write_bytes(bytes(5))
    (tmp_path / "tokenizer.json").write_bytes(bytes(100))
    (tmp_path / "c.gguf").write_bytes(bytes(7))
    assert (model_size(tmp_path), model_size(tmp_path / "c.gguf"), model_size(tmp_path / "no")) == (15, 7, 0)


async def test_notices_and_log_are_there_for_who_comes_late(asked: Asked) -> None:
    asked.folder.log("worker").write_text("one\ntwo\nthree\n")
    assert (await asked.facts.notices(GetNotices())).items == SAID
    log = await asked.facts.log(GetLog(lines=2))
    assert (log.lines, log.path) == (["two", "three"], str(asked.folder.log("worker")))


@pytest.mark.parametrize("broken", [False, True])
async def test_the_bug_report_is_written_whatever_is_broken(asked: Asked, tmp_path: Path, broken: bool) -> None:
    asked.folder.log("worker").write_text(f"read {asked.folder.root}/settings.toml of 10.0.0.7\n")
    asked.examiner.error = HostDied("The examiner ended.") if broken else None
    text = (await asked.facts.diagnose(Diagnose())).text
    assert all(str(one.text) in text for one in SAID), "with every crash that was reported"
    assert ("examiner limits: not known: The examiner ended." in text) == broken
    assert ("examiner memory: held" in text) == (not broken)
    assert (
        "engine: running" in text and "answers = 8" in text and "read <data folder>/settings.toml of <address>" in text
    )
    assert str(tmp_path) not in text
    assert "bad      disk" in text and "to do:         Make room." in text
    assert "good     peers          In silo: nothing was sent" in text


async def test_facts_come_with_the_checks_of_the_node(asked: Asked) -> None:
    info = await asked.facts.facts(Examine())
    assert info.values["engine"] == "running"
    assert [check.name for check in info.checks] == ["node", "computing", "listening port", "clock by peers", "peers"]


async def test_a_card_that_refuses_is_reported_with_what_to_do(asked: Asked) -> None:
    asked.engine.card_refused = "The card cannot be computed on. So the processor is used."
    node = (await asked.facts.facts(Examine())).checks[0]
    assert (node.name, node.state) == ("node", "limited")
    assert node.found.startswith(f"{asked.engine.card_refused} The node answers") and "driver" in node.advice
