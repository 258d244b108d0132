"""An engine without a model: answers come from a function, learning is a counter.

For tests of everything around an engine: no torch, no model, the same requests and replies. Tokens are bytes.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import CheckpointError, HostCancelled, HostError
from sapo_desktop.core.records import Completion, Sampling, StepReport, TrainerSettings, TrainingSequence
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines import protocols as p

Script = Callable[[str, int, int], str]
"""(question, number drawn from seed and place, steps taken) -> the answer's text."""

STATE_FILE = "scripted.json"
_PIECE = 4
"""Characters of a single answer that are reported at once."""


def dice(question: str, number: int, steps: int) -> str:
    """Answer with a digit that hangs on all three; a stand-in for a model that knows nothing."""
    seen = hashlib.sha256(f"{question}|{number}|{steps}".encode()).digest()
    return f"<answer>{seen[0] % 10}</answer>"


class ScriptedService:
    """Speaks the engine's messages; the same requests give the same replies, seconds apart."""

    def __init__(self, script: Script = dice) -> None:
        self.cancelled = threading.Event()
        self.steps = 0
        self._script = script
        self._settings: TrainerSettings | None = None

    def handle(self, request: p.EngineRequest, progress: p.Progress) -> msgspec.Struct:
        """Do what is asked; raises HostCancelled where a cancel was set, HostError before Load."""
        if self.cancelled.is_set():
            raise HostCancelled(sentence("The scripted engine was cancelled."))
        if isinstance(request, p.Load):
            self.steps, self._settings = 0, request.trainer
            return _loaded(request)
        if self._settings is None:
            raise HostError(sentence("The engine was asked to work before a model was loaded."))
        match request:
            case p.Generate():
                return self._generate(request, progress)
            case p.Encode():
                return p.Encoded(
                    tokens=[_tokens(text, request.end) for text in request.texts],
                    prompts=[list(prompt.question.encode()) for prompt in request.questions],
                )
            case p.Step():
                return p.Stepped(report=self._step(request.batch, self._settings))
            case p.Save():
                (Path(request.folder) / STATE_FILE).write_bytes(msgspec.json.encode(self.steps))
                return p.Done(files=[STATE_FILE])
            case p.Restore():
                self.steps = 0 if request.folder is None else _read(Path(request.folder) / STATE_FILE)
                return p.Done(steps=self.steps)
            case _:
                return p.Done()

    def _generate(self, request: p.Generate, progress: p.Progress) -> p.Generated:
        steps = 0 if request.base else self.steps
        total = len(request.prompts) * request.answers
        completions = []
        for place, question in enumerate([prompt.question for prompt in request.prompts]):
            first = request.sampling.seed + place * request.answers
            texts = [self._script(question, first + i, steps) for i in range(request.answers)]
            completions.append([_completion(text, request.sampling) for text in texts])
            done = (place + 1) * request.answers
            progress(p.GenerationProgress(finished=done, total=total, tokens=done))
        if total == 1:
            _speak(completions[0][0], progress)
        return p.Generated(
            prompt_tokens=[list(prompt.question.encode()) for prompt in request.prompts],
            completions=completions,
            seconds=0.0,
            batch=total,
        )

    def _step(self, batch: list[TrainingSequence], settings: TrainerSettings) -> StepReport:
        skipped = not any(s.advantage for s in batch)
        self.steps += not skipped
        return StepReport(
            loss=0.0,
            grad_norm=0.0 if skipped else 1.0,
            clip_fraction=0.0,
            tokens=sum(len(s.tokens) for s in batch),
            sequences=len(batch),
            micro_batch=settings.micro_batch,
            skipped=skipped,
            seconds=0.0,
            steps=self.steps,
        )


def _loaded(request: p.Load) -> p.Loaded:
    return p.Loaded(
        model=request.model,
        parameters=0,
        trainable=0,
        device="none",
        dtype="none",
        vocabulary=257,
        context=1 << 20,
        versions={},
    )


def _tokens(text: str, end: bool) -> list[int]:
    return [*text.encode(), 256] if end else list(text.encode())


def _completion(text: str, sampling: Sampling) -> Completion:
    tokens = _tokens(text, end=True)
    kept = tokens[: sampling.max_tokens]
    return Completion(
        tokens=kept,
        logprobs=[-1.0] * len(kept),
        text=bytes(kept[: len(text.encode())]).decode(errors="replace"),
        finish="stop" if kept == tokens else "length",
    )


def _speak(completion: Completion, progress: p.Progress) -> None:
    """Tell a single answer piece by piece, as engines with a model do."""
    text = completion.text
    for at in range(0, len(text), _PIECE):
        piece = text[at : at + _PIECE]
        progress(p.TokenText(text=piece, tokens=len(text[: at + _PIECE].encode())))


def _read(path: Path) -> int:
    try:
        return msgspec.json.decode(path.read_bytes(), type=int)
    except (OSError, msgspec.DecodeError) as error:
        raise CheckpointError(
            sentence(
                "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
                path=str(path),
                reason=str(error),
            )
        ) from error
