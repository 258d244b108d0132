"""A generator that uses a remote server with OpenAI's completions, preferably vLLM, SGLang or llama-server.

The server must have the same model that is trained here. Its tokenizer is read from the local folder, prompts are made
here, and answers come back in our own ids (`tokens.py`). One request covers a question with all its answers if the
server supports that. Requests run concurrently, and a cancel closes them within a second. Limitations of the server are
reported once, when it is connected. Left out: streaming of single answers (the text comes when it is complete),
learning.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from sapo_desktop.core.errors import HostCancelled, HostError, RemoteError, UsageError
from sapo_desktop.core.records import Completion, Prompt, Sampling
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.answering import room
from sapo_desktop.engines.remote.dialects import Ask, Dialect, answers_in
from sapo_desktop.engines.remote.http import Refused, Server, Unusable, in_the_clear
from sapo_desktop.engines.remote.server import AdapterShelf, Found, look_at
from sapo_desktop.engines.remote.tokens import Translator, Understood
from sapo_desktop.engines.service import Kind, Request, Service, cannot
from sapo_desktop.engines.tokenizer import ModelTokenizer, load_tokenizer, model_numbers

LOOK_SECONDS = 0.1
"""Interval of the checks for a cancel."""

Result = TypeVar("Result")


class Runner:
    """Runs one coroutine at a time, until it ends or `cancelled` is set; then it raises HostCancelled."""

    def __init__(self, cancelled: threading.Event) -> None:
        self._cancelled = cancelled

    def __call__(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run(self._watched(work))

    async def _watched(self, work: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.ensure_future(work)
        while not task.done():
            if self._cancelled.is_set():
                task.cancel()
                await asyncio.wait([task])
                raise HostCancelled(sentence("Answering was cancelled."))
            await asyncio.wait([task], timeout=LOOK_SECONDS)
        return task.result()


async def all_of(works: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run all concurrently and return their results; the first error cancels the others and is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


PROBE = "What is 2 + 2?"
PROBE_TOKENS = 4


class RemoteGenerator:
    """A server that answers with one model."""

    def __init__(self, request: p.LoadRemote, run: Runner) -> None:
        _check_key(request)
        self.request = request
        self.words: ModelTokenizer = load_tokenizer(Path(request.folder))
        numbers = model_numbers(Path(request.folder))
        self._run = run
        self._translator = Translator(self.words, numbers.vocabulary)
        found, self.dialect, self.first = run(self._connect())
        self.model = found.model
        if found.vocabulary is not None and found.vocabulary < len(self.words.backend):
            raise UsageError(
                "The model '{model}' at {url} has {tokens} tokens, but the one here has {count}, so they "
                "differ. Set its model in remote_url (#MODEL), or set model.",
                model=found.model,
                url=request.url,
                tokens=found.vocabulary,
                count=len(self.words.backend),
            )
        self.context = min(found.context or numbers.context, numbers.context)
        self.vocabulary = numbers.vocabulary
        folder = request.adapters if self.dialect.learns else None
        self.shelf = None if folder is None else AdapterShelf(folder)
        if self.shelf is not None:
            run(self._sweep(self.shelf))

    def loaded(self) -> p.Loaded:
        """Describe the generator."""
        return p.Loaded(
            model=self.model,
            parameters=0,
            trainable=0,
            device="remote",
            dtype=self.dialect.name,
            vocabulary=self.vocabulary,
            context=self.context,
            versions={"transformers": version("transformers"), "httpx2": version("httpx2")},
            said=list(self._said()),
            learns=self.shelf is not None,
        )

    def generate(self, request: p.Generate, progress: p.Progress) -> p.Generated:
        """Answer questions."""
        began = time.monotonic()
        prompts = [self.words.prompt_tokens(prompt) for prompt in request.prompts]
        asks = self._asks(request, prompts)
        answers = self._run(self._answer(asks, len(prompts) * request.answers, progress))
        completions: list[list[Completion]] = [[] for _ in prompts]
        for (row, _), understood in zip(asks, answers, strict=True):
            completions[row // request.answers].extend(one.completion for one in understood)
        for group in completions:
            # A prompt that fills the context is not sent.
            group.extend([_NOTHING] * (request.answers - len(group)))
        if len(asks) == 1 and request.answers == 1:
            (only,) = completions[0]
            progress(p.TokenText(text=only.text, tokens=len(only.tokens)))
        return p.Generated(
            prompt_tokens=prompts,
            completions=completions,
            seconds=time.monotonic() - began,
            off_policy=True,
            asked=self.words.prompter.text(request.prompts[0]) if len(prompts) * request.answers == 1 else "",
            batch=min(self.dialect.at_once, max(len(asks), 1)) * (request.answers if self.dialect.together else 1),
        )

    def use_adapter(self, folder: Path | None) -> None:
        """Answer with this adapter from now on; None: with the base.

        Raises:
            UsageError: the server accepts none.
        """
        if folder is not None and self.shelf is None:
            raise UsageError(_no_adapters(self.request.url))
        if self.shelf is not None:
            self._run(self._shelve(self.shelf, folder))

    def close(self) -> None:
        """Nothing to do: each request opens its own connection."""

    # -- inside ------------------------------------------------------------------------------------------------

    def _server(self) -> Server:
        return Server(self.request.url, self.request.key, self.request.seconds, self.request.proxy)

    async def _connect(self) -> tuple[Found, Dialect, Understood]:
        """Find out by a test question what the server is, which requests it accepts, and its first answer."""
        async with self._server() as server:
            found = await look_at(server, self.request.model)
            probe = Prompt(question=PROBE)
            prompt = self.words.prompt_tokens(probe)
            ask = self._ask(found.model, probe, prompt, 2, PROBE_TOKENS, Sampling(max_tokens=PROBE_TOKENS), seed=1)
            for dialect in found.ways:
                try:
                    answers = await self._once(server, dialect, ask, any_number=True)
                except Refused as refused:
                    if dialect is found.ways[-1] or refused.status not in (400, 404, 405, 422, 501):
                        raise
                else:
                    if answers and (len(answers) == ask.count or not dialect.together):
                        return found, dialect, answers[0]
        raise HostError(
            "{url} does not answer the question that was asked. Check that server's log, or set "
            "remote_url to another one.",
            url=self.request.url,
        )

    async def _once(self, server: Server, dialect: Dialect, ask: Ask, *, any_number: bool = False) -> list[Understood]:
        path, body = dialect.request(ask)

        def read(raw: bytes) -> list[Understood]:
            answers = answers_in(raw)
            if len(answers) != ask.count and not any_number:
                raise Unusable("{found} answers instead of the {count} requested", found=len(answers), count=ask.count)
            return [self._translator.read(one, ask.limit, ask.sampling, cut=dialect.learns) for one in answers]

        return await server.ask(path, body, read)

    def _asks(self, request: p.Generate, prompts: Sequence[list[int]]) -> list[tuple[int, Ask]]:
        """The requests to make, each with the place of its first answer (by prompt, then answer)."""
        adapter = self.shelf.name if self.shelf is not None and not request.base else None
        each = request.answers if self.dialect.together else 1
        made = []
        for place, (question, prompt) in enumerate(zip(request.prompts, prompts, strict=True)):
            limit = room(self.context, len(prompt), request.sampling.max_tokens)
            if limit <= 0:
                continue
            for at in range(0, request.answers, max(each, 1)):
                row = place * request.answers + at
                seed = _seed(request.sampling.seed, row)
                ask = self._ask(self.model, question, prompt, each, limit, request.sampling, seed)
                made.append((row, replace(ask, adapter=adapter)))
        return made

    def _ask(
        self, model: str, question: Prompt, prompt: list[int], count: int, limit: int, sampling: Sampling, seed: int
    ) -> Ask:
        return Ask(
            model=model,
            messages=self.words.prompter.messages(question),
            prompt=prompt,
            text=self.words.prompt_text(prompt),
            count=count,
            limit=limit,
            sampling=sampling,
            seed=seed,
            stop=sorted(self.words.stop_tokens),
        )

    async def _answer(
        self, asks: Sequence[tuple[int, Ask]], total: int, progress: p.Progress
    ) -> list[list[Understood]]:
        """The answers to all requests, in order; reports progress after each."""
        turn = asyncio.Semaphore(self.dialect.at_once)
        tally = _Tally(progress, total)

        async def one(row: int, ask: Ask) -> list[Understood]:
            async with turn:
                understood = await self._once(server, self.dialect, ask)
            tally.add(understood, row)
            return understood

        async with self._server() as server:
            return await all_of(one(row, ask) for row, ask in asks)

    async def _sweep(self, shelf: AdapterShelf) -> None:
        async with self._server() as server:
            await shelf.sweep(server)

    async def _shelve(self, shelf: AdapterShelf, folder: Path | None) -> None:
        async with self._server() as server:
            if folder is None:
                await shelf.clear(server)
            else:
                await shelf.put(server, folder)

    def _said(self) -> Iterator[Text]:
        """What this server cannot do, a sentence each."""
        url = self.request.url
        if self.dialect.chats:
            yield sentence(
                "{url} offers chat only. It puts questions into its own template, which may differ from the "
                "one this model is trained with. vLLM and llama-server use this model's.",
                url=url,
            )
        if self.dialect.learns and not self.first.by_id:
            yield sentence(
                "The server at {url} seems to have another model: its tokens do not match this model's "
                "vocabulary. Check that both are the same. Until then answers are encoded here, and trained "
                "on without importance weights.",
                url=url,
            )
        elif self.dialect.learns and not self.first.completion.logprobs:
            yield sentence(
                "{url} gives no log-probabilities for whole answers, so training uses no importance weights. "
                "vLLM gives them.",
                url=url,
            )
        if self.shelf is None:
            yield _no_adapters(url)


_NOTHING = Completion(tokens=[], logprobs=[], text="", finish="length")


def _no_adapters(url: str) -> Text:
    return sentence(
        "{url} cannot get an adapter from here (vLLM can, with remote_adapters set). It answers with "
        "the base model, and nothing is learned.",
        url=url,
    )


@dataclass
class _Tally:
    """The progress of a generation, by request."""

    progress: p.Progress
    total: int
    finished: int = 0
    tokens: int = 0

    def add(self, understood: Sequence[Understood], place: int) -> None:
        self.finished += len(understood)
        self.tokens += sum(len(one.completion.tokens) for one in understood)
        ended = p.EndedAnswer(place, understood[0].completion.text) if understood else None
        self.progress(p.GenerationProgress(finished=self.finished, total=self.total, tokens=self.tokens, ended=ended))


def _check_key(request: p.LoadRemote) -> None:
    """Checked before anything is sent, since a key that was read in transit stays exposed. Raises UsageError."""
    if request.key and in_the_clear(request.url):
        raise UsageError(
            "{url} is not encrypted, so the key is not sent there. Use https://, or a tunnel to this computer.",
            url=request.url,
        )


def _seed(seed: int, row: int) -> int:
    """A 31-bit seed for one request, from the generation's seed and the row of its first answer."""
    return int(np.random.SeedSequence([seed, row]).generate_state(1)[0]) >> 1


Remote = Service[p.LoadRemote, RemoteGenerator]


@contextlib.contextmanager
def _refusals_named() -> Iterator[None]:
    """Turn the server's refusals into an error class that the worker knows."""
    try:
        yield
    except Refused as refused:
        said = refused.text
        if refused.status not in (401, 403):
            said = joined([said, sentence("Check the server and remote_url.")])
        raise RemoteError(said) from refused


def _load(request: p.LoadRemote, cancelled: threading.Event) -> RemoteGenerator:
    with _refusals_named():
        return RemoteGenerator(request, Runner(cancelled))


def _work(generator: RemoteGenerator, request: Request, progress: p.Progress, service: Remote) -> msgspec.Struct:
    with _refusals_named():
        match request:
            case p.Generate():
                return generator.generate(request, progress)
            case p.UseAdapter(file=folder):
                generator.use_adapter(None if folder is None else Path(folder))
                return p.Done()
            case p.Configure():
                return p.Done()  # the server manages its threads, and has no optimiser
    raise cannot(request)


def create() -> Remote:
    """Return the service for a host process; nothing is connected yet."""
    return Service(Kind(p.LoadRemote, _load, _work))
