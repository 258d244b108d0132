"""What the worker answers to the Model page: a laptop of 16 GB, as fit and catalogue really appraise it."""

from functools import cache

import msgspec

from sapo_desktop.core.fitting import Fit, ModelBadge
from sapo_desktop.core.models import Contents, Found, HubModel, Installed, KeptFile, Transfer, Unfinished
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.describe import supposed
from sapo_desktop.models.fit.fit import badges, estimate, fit
from sapo_desktop.system.hardware import Gpu
from sapo_desktop.worker.control.messages.base import Exported, Ok
from sapo_desktop.worker.control.messages.facts import GetModelInfo, ModelInfo
from sapo_desktop.worker.control.messages.models import (
    CancelModelWork,
    CatalogueIs,
    DownloadModel,
    EstimatesAre,
    FindModels,
    FitIs,
    FoundAre,
    GetCatalogue,
    GetEstimates,
    GetFit,
    GetModels,
    HubModelsAre,
    ImportModel,
    ModelFailed,
    ModelInstalled,
    ModelProgressed,
    ModelRemoved,
    ModelsAre,
    RemoveModel,
    SearchHub,
    SetHubToken,
)
from sapo_desktop.worker.control.messages.replies import CheckpointInfo, Checkpoints, Evaluated
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


@cache
def catalogue() -> tuple[ModelBadge, ...]:
    return tuple(badges(LAPTOP, model_catalogue(), Settings(), CONTENTS.models, llama_cpp=True))


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
    memory_estimate=381_000_000,
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


HITS = [
    HubModel(
        repository=repository,
        kind=kind,  # type: ignore[arg-type]
        files=files,
        architecture=architecture,
        parameters=parameters,
        bytes=size,
        downloads=downloads,
        licence=licence,
        gated=gated,
    )
    for repository, kind, files, architecture, parameters, size, downloads, licence, gated in (
        (
            "o/small-chat",
            "transformers",
            (),
            "LlamaForCausalLM",
            362_000_000,
            724_000_000,
            812_000,
            "apache-2.0",
            False,
        ),
        (
            "o/small-chat-GGUF",
            "gguf",
            ("s.Q8_0.gguf",),
            "LlamaForCausalLM",
            362_000_000,
            386_000_000,
            92_000,
            "",
            False,
        ),
        ("p/small-8b", "transformers", (), "Qwen3ForCausalLM", 8_190_000_000, 16_381_000_000, 41_000, "llama3.2", True),
        ("p/small-gemma-GGUF", "gguf", ("g.Q8_0.gguf",), "", 999_000_000, 1_062_000_000, 8_000, "gemma", False),
    )
]


def estimates(request: GetEstimates) -> EstimatesAre:
    """The estimates that a worker would send."""
    known = {hit.repository: estimate(supposed(hit), LAPTOP, Settings()) for hit in request.hub}
    return EstimatesAre(
        estimates=known | {name: estimate(supposed(HITS[1]), LAPTOP, Settings()) for name in request.models}
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
            GetEstimates: estimates,
            SearchHub: HubModelsAre(models=HITS, left_out=17),
            ListCheckpoints: checkpoints(),
            Evaluate: Evaluated(report=REPORT),
            RollBack: Ok(text="Went back to 800, saved as checkpoint 901. Round numbers continue."),
            ExportModel: Exported(folder="/home/me/sapo-peft-900", files=["adapter_model.safetensors", "README.md"]),
            DownloadModel: Ok(text="Downloading."),
            ImportModel: Ok(text="Importing."),
            CancelModelWork: Ok(text="Cancelled."),
            RemoveModel: ModelRemoved(name="smollm2-135m", bytes=272_000_000),
            SetHubToken: Ok(text="The token is kept."),
            SetSettings: Ok(text="Saved. model: taken up once the current round is done."),
            Quit: Ok(),
        }
    )
