"""What the worker answers to the Model page: a laptop of 16 GB, as fit and catalogue really appraise it."""

from functools import cache

import msgspec

from sapo_desktop.core.fitting import Fit, ModelBadge
from sapo_desktop.core.models import Contents, Found, Installed, KeptFile, Transfer, Unfinished
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit.fit import badges, fit
from sapo_desktop.system.hardware import Gpu
from sapo_desktop.worker.control.messages.facts import GetModelInfo, ModelInfo
from sapo_desktop.worker.control.messages.models import (
    CancelModelWork,
    CatalogueIs,
    DownloadModel,
    FindModels,
    FitIs,
    FoundAre,
    GetCatalogue,
    GetFit,
    GetModels,
    ImportModel,
    ModelFailed,
    ModelInstalled,
    ModelProgressed,
    ModelRemoved,
    ModelsAre,
    RemoveModel,
    SetHubToken,
)
from sapo_desktop.worker.control.messages.replies import CheckpointInfo, Checkpoints, Evaluated, Exported, Ok
from sapo_desktop.worker.control.messages.requests import (
    Evaluate,
    ExportModel,
    ListCheckpoints,
    Quit,
    RollBack,
    SetSettings,
)
from tests.builders import MACHINE, eval_report
from tests.gui import scenes
from tests.gui.stage import StageBridge

LAPTOP = msgspec.structs.replace(
    MACHINE, memory=16_300_000_000, memory_free=11_200_000_000, disk_free=200_000_000_000, cores=8
)
WITH_CARD = msgspec.structs.replace(LAPTOP, gpus=[Gpu("NVIDIA GeForce RTX 4060 Laptop", 8_585_000_000, 7_900_000_000)])


@cache
def a_fit(hardware_with_card: bool = False) -> Fit:
    hardware = WITH_CARD if hardware_with_card else LAPTOP
    return fit(hardware, model_catalogue(), Settings(), llama_cpp=True)


@cache
def catalogue() -> tuple[ModelBadge, ...]:
    return tuple(badges(LAPTOP, model_catalogue(), Settings(), frozenset({"smollm2-135m"}), llama_cpp=True))


def installed(name: str, source: str, size: int, kind: str = "transformers") -> Installed:
    file = KeptFile(bytes=size, sha256="ab" * 32)
    files = {"model.safetensors": file}
    return Installed(name=name, kind=kind, source=source, installed=scenes.NOW, files=files, revision="c0ffee" * 7)


CONTENTS = Contents(
    models=[
        installed("smollm2-135m", "HuggingFaceTB/SmolLM2-135M-Instruct", 272_000_000),
        installed("owner--small-gguf", "owner/small-gguf", 512_000_000, "gguf"),
    ],
    unfinished=[Unfinished(name="qwen2.5-0.5b", bytes=350_000_000)],
    damaged={"old-model": "Its manifest does not name model.safetensors: import it again."},
)
INFO = ModelInfo(
    name="starter",
    kind="transformers",
    parameters=1_874_880,
    bytes=4_300_000,
    device="cpu",
    dtype="float32",
    generator="torch",
    trainer="torch",
    threads=4,
    memory_used=612_000_000,
    memory_estimate=455_000_000,
    memory_free=10_600_000_000,
    micro_batch=16,
    max_tokens=256,
)
TRANSFER = Transfer(
    stage="fetching", file="model.safetensors", done=512_000_000, total=988_000_000, speed=12_300_000.0, left=38.7
)
PROGRESS = ModelProgressed(model="qwen2.5-0.5b", transfer=TRANSFER)
DONE = ModelInstalled(
    model="qwen2.5-0.5b",
    installed=installed("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B-Instruct", 988_000_000),
    path="/home/me/models/qwen2.5-0.5b",
)
REFUSED = ModelFailed(
    model="llama-3.2-1b", kind="AccessRefused", text="The hub wants an account that has accepted the licence."
)


def checkpoints(rounds: int = 900) -> Checkpoints:
    scores = {point.round: point.score for point in scenes.swarm_curve(rounds).evals}
    numbers = sorted({*range(rounds - 4, rounds + 1), 800})
    best = 800
    items = [
        CheckpointInfo(number=0, round=0, created=0.0, bytes=0, validation=scores.get(0), best=False, last=False),
        *(
            CheckpointInfo(
                number=number,
                round=number,
                created=scenes.NOW - 15.0 * (rounds - number),
                bytes=1_240_000,
                validation=scores.get(number),
                best=number == best,
                last=number == rounds,
            )
            for number in numbers
        ),
    ]
    return Checkpoints(items=items)


REPORT = eval_report(
    "900",
    0.734,
    questions=400,
    low=0.69,
    high=0.775,
    tasks=[TaskMark(task=f"{name}/easy", answers=40, solved=0.7, partial=0.8, reward=0.7) for name in scenes.FAMILIES],
)


FOUND = Found(
    program="Ollama",
    name="gemma3:4b",
    path="/home/me/.ollama/models/blobs/sha256-" + "a" * 64,
    kind="gguf",
    bytes=3_300_000_000,
    only_answers="It is a model of the kind 'gemma3'.",
)


def stage(bridge: StageBridge) -> None:
    """Everything goes well."""
    bridge.replies.update(
        {
            GetModelInfo: INFO,
            GetFit: FitIs(fit=a_fit()),
            GetCatalogue: CatalogueIs(models=list(catalogue()), disk_free=68_724_000_000),
            GetModels: ModelsAre(folder="/home/me/models", contents=CONTENTS),
            FindModels: FoundAre(models=[FOUND]),
            ListCheckpoints: checkpoints(),
            Evaluate: Evaluated(report=REPORT),
            RollBack: Ok(text="Back at 800; kept as checkpoint 901. Rounds count on."),
            ExportModel: Exported(folder="/home/me/sapo-peft-900", files=["adapter_model.safetensors", "README.md"]),
            DownloadModel: Ok(text="Downloading."),
            ImportModel: Ok(text="Importing."),
            CancelModelWork: Ok(text="Cancelled."),
            RemoveModel: ModelRemoved(name="smollm2-135m", bytes=272_000_000),
            SetHubToken: Ok(text="The token is kept."),
            SetSettings: Ok(text="Saved. model: taken up once the round in hand is done."),
            Quit: Ok(),
        }
    )
