"""Finds out what a server is and has, and loads adapters into it.

The list of models (`owned_by`) reveals the kind of server. Asking for answers is in `dialects.py`.
"""

from __future__ import annotations

import itertools
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import AdapterRefused, ModelError, NotWritten, UsageError
from sapo_desktop.engines.protocols import AdapterFolder
from sapo_desktop.engines.remote.dialects import Dialect, decode, ways
from sapo_desktop.engines.remote.http import Refused, Server

ADAPTER_FILES = ("adapter_model.safetensors", "adapter_config.json")
"""The files that peft writes and servers read."""


@dataclass(frozen=True)
class Found:
    """A server as it describes itself."""

    ways: list[Dialect]
    """The dialects that it may accept, best first."""
    model: str
    context: int | None
    vocabulary: int | None


class _Meta(msgspec.Struct, frozen=True):
    n_ctx_train: int | None = None
    n_vocab: int | None = None


class _Model(msgspec.Struct, frozen=True):
    id: str
    owned_by: str = ""
    parent: str | None = None
    max_model_len: int | None = None
    meta: _Meta | None = None


class _Models(msgspec.Struct, frozen=True):
    data: list[_Model]


class _Defaults(msgspec.Struct, frozen=True):
    n_ctx: int | None = None


class _Props(msgspec.Struct, frozen=True):
    default_generation_settings: _Defaults | None = None


async def look_at(server: Server, wanted: str) -> Found:
    """Identify the server, and which of its models `wanted` means (empty: its only one).

    Raises:
        HostError: it cannot be reached, or is not such a server.
        UsageError: it has no model of that name, or several and none was named.
    """
    listed: _Models = await server.ask("/v1/models", None, lambda raw: decode(raw, _Models))
    model = _choose(server, listed.data, wanted)
    meta = model.meta or _Meta()
    context = model.max_model_len
    if model.owned_by == "llamacpp":
        context = await _llama_context(server) or meta.n_ctx_train
    return Found(ways(model.owned_by), model.id, context, meta.n_vocab)


def _choose(server: Server, models: list[_Model], wanted: str) -> _Model:
    bases = [model for model in models if model.parent is None]
    names = ", ".join(model.id[:80] for model in bases[:10]) or "none"
    if wanted:
        for model in models:
            if model.id == wanted:
                return model
        raise UsageError(
            "{url} has no model '{name}', but {names}. Write one of them in remote_url: {url}#MODEL.",
            url=server.url,
            name=wanted,
            names=names,
        )
    if len(bases) != 1:
        raise UsageError(
            "{url} has {count} models ({names}). Write one of them in remote_url: {url}#MODEL.",
            url=server.url,
            count=len(bases),
            names=names,
        )
    return bases[0]


async def _llama_context(server: Server) -> int | None:
    """Context of one slot; --parallel divides the model's."""
    try:
        props: _Props = await server.ask("/props", None, lambda raw: decode(raw, _Props))
    except Refused:
        return None
    return props.default_generation_settings.n_ctx if props.default_generation_settings else None


class AdapterShelf:
    """This node's adapters on a server that can load them at run time (vLLM).

    Each gets a name of its own, because servers cache what they loaded under a name; the previous one is unloaded
    afterwards. Adapters that may remain (a reply was lost, the node was killed) are unloaded as soon as possible.
    """

    def __init__(self, folder: AdapterFolder) -> None:
        self._shared = Path(folder.path)
        self._own = f"sapo-{folder.owner}-"
        # Random for each process: the same name could refer to older weights.
        drawn = secrets.token_hex(4)
        self._names = (f"{self._own}{drawn}-{number}" for number in itertools.count(1))
        self._left: list[str] = []
        """Names that the server may still have and that nobody needs."""
        self.name: str | None = None
        """The adapter that the server has now."""

    async def put(self, server: Server, folder: Path) -> None:
        """Make the server load what peft wrote into `folder`.

        Raises:
            NotWritten: the shared folder cannot be written.
            AdapterRefused: the server accepts no adapters, or does not see the folder.
            HostError: it cannot be reached.
        """
        name = next(self._names)
        place = self._shared / name
        try:
            self._copy(folder, place)
            await self._load(server, name, place)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            self._left.append(name)
            raise
        await self._change(server, name)

    async def clear(self, server: Server) -> None:
        """Make the server unload the adapter."""
        await self._change(server, None)

    async def sweep(self, server: Server) -> None:
        """Make the server unload what this node left there when it was killed. Raises as `put`."""
        own = re.compile(re.escape(self._own) + r"[0-9a-f]{8}-[0-9]{1,9}")
        listed: _Models = await server.ask("/v1/models", None, lambda raw: decode(raw, _Models))
        found = {model.id for model in listed.data} | self._folders()
        self._left += sorted(name for name in found if own.fullmatch(name))
        await self._drop(server)

    # -- inside ------------------------------------------------------------------------------------------------

    def _folders(self) -> set[str]:
        try:
            return {path.name for path in self._shared.iterdir()}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise ModelError(
                "{folder} cannot be read: {reason}. Let this user read and write there, or set remote_adapters "
                "to another folder.",
                folder=str(self._shared),
                reason=str(error),
            ) from error

    def _copy(self, folder: Path, place: Path) -> None:
        try:
            place.mkdir(parents=True)
            for file in ADAPTER_FILES:
                shutil.copyfile(folder / file, place / file)
        except OSError as error:
            raise NotWritten(
                "The adapter cannot be put into {folder}: {reason}. Let this user write there, or set "
                "remote_adapters to another folder.",
                folder=str(self._shared),
                reason=str(error),
            ) from error

    async def _load(self, server: Server, name: str, place: Path) -> None:
        body = {"lora_name": name, "lora_path": str(place)}
        try:
            await server.ask("/v1/load_lora_adapter", body, lambda raw: raw)
        except Refused as error:
            if name in str(error) and "already" in str(error):
                return  # nobody else uses that name: it was loaded, but the reply was lost
            raise AdapterRefused(
                "{problem} The server must be started so that it can load adapters while it runs, and must "
                "see {folder} under that path (docs/remote.md). Otherwise set remote_adapters to empty: the "
                "server then answers, and nothing is learned.",
                problem=error.text,
                folder=str(self._shared),
            ) from error

    async def _change(self, server: Server, name: str | None) -> None:
        if self.name is not None:
            self._left.append(self.name)
        self.name = name
        await self._drop(server)

    async def _drop(self, server: Server) -> None:
        while self._left:
            name = self._left[-1]
            try:
                await server.ask("/v1/unload_lora_adapter", {"lora_name": name}, lambda raw: raw)
            except Refused:
                pass  # already unloaded: servers make room for newer ones
            finally:
                shutil.rmtree(self._shared / name, ignore_errors=True)
            self._left.remove(name)
