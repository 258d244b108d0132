"""A hub on this machine: speaks as much of the hub's protocol as a download uses, and misbehaves on request.

Two servers, so that large files really come from another host (port) by a redirect with a signature, as from a CDN.
What goes wrong is planned: `plan(place, fault, times)` gives the next requests at that place the fault; after it all is
well.
"""

import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

import huggingface_hub.constants
import pytest

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
Place = Literal["search", "listing", "head", "file", "cdn"]
"""What a search finds; the list of files; HEAD of a file; GET of a small file at the hub, of a large one at the CDN."""


def with_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a user without proxies or prohibitions; the engines' tests forbid the hub in their process."""
    for name in (*PROXIES, "HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one answer."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    """On top of the right ones; an empty value takes one away."""
    cut_after: int | None = None
    """Bytes of the body after which the connection is dropped."""
    chop: int = 0
    """Bytes that are missing at the end, with a Content-Length that says so (the hub said more)."""
    extra: bytes = b""
    instead: bytes | None = None
    """The whole body."""
    flip: int | None = None
    """Place of a byte (in the whole file) that arrives wrong."""
    whole: bool = False
    """No ranges: 200 with all of it."""
    shift: int = 0
    """A part that begins so many bytes later than asked for."""
    silent: float = 0.0
    """Seconds before anything is said."""
    trickle: float = 0.0
    """Seconds between the bytes of the body, which come one by one."""
    trickling_head: bool = False
    """Header after header, without an end."""
    hold_after: int | None = None
    """Bytes of the body after which nothing comes until `FakeHub.release` is set; then the connection is dropped."""


@dataclass
class Repo:
    """One repository at one commit."""

    files: dict[str, bytes]
    large: set[str]
    """Which of them lie at the CDN."""
    commit: str = "c0ffee" * 6 + "c0ff"
    token: str | None = None
    """Gated: who comes without it is refused."""
    answers_to: str = ""
    """Another revision, for which it gives its own commit."""
    claimed: int | None = None
    """Bytes that its large files are said to have."""
    renamed: str = ""
    """Another name, under which it is found by a redirect."""
    own_host: bool = False
    """Small files come by a redirect within the hub, which tells what they are."""
    listed: list[str] = field(default_factory=list)
    """Names that the listing has on top."""


@dataclass(frozen=True)
class Asked:
    place: str
    method: str
    path: str
    headers: dict[str, str]


class FakeHub:
    """Both servers and what they are asked. Used by `running_hub`."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.found: list[dict[str, object]] = []
        """What its search lists."""
        self.asked: list[Asked] = []
        self.refuse_signature = 0
        """Number of signed addresses that have expired when they are used."""
        self._plans: dict[str, list[Fault]] = {}
        self._lock = threading.Lock()
        self._signed = 0
        self.stopping = threading.Event()
        self.release = threading.Event()
        self._servers = [self._serve(_HubHandler), self._serve(_CdnHandler)]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._servers[0].server_address[1]}"

    @property
    def cdn(self) -> str:
        return f"http://127.0.0.1:{self._servers[1].server_address[1]}"

    def plan(self, place: Place, fault: Fault, times: int = 1) -> None:
        with self._lock:
            self._plans.setdefault(place, []).extend([fault] * times)

    def next_fault(self, place: str) -> Fault:
        with self._lock:
            planned = self._plans.get(place)
            return planned.pop(0) if planned else Fault()

    def note(self, place: str, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.asked.append(Asked(place, handler.command, handler.path, headers))

    def count(self, place: str) -> int:
        with self._lock:
            return sum(asked.place == place for asked in self.asked)

    def sign(self) -> int:
        with self._lock:
            self._signed += 1
            return self._signed

    def blob(self, sha256: str) -> bytes | None:
        for repo in self.repos.values():
            for content in repo.files.values():
                if hashlib.sha256(content).hexdigest() == sha256:
                    return content
        return None

    def close(self) -> None:
        self.stopping.set()
        self.release.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _serve(self, handler: "type[_Handler]") -> ThreadingHTTPServer:
        server = _Server(("127.0.0.1", 0), type("Bound", (handler,), {"hub": self}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # who is sent nonsense hangs up
            super().handle_error(request, address)  # type: ignore[arg-type]


@contextmanager
def running_hub() -> Iterator[FakeHub]:
    hub = FakeHub()
    try:
        yield hub
    finally:
        hub.close()


def git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, fault: Fault, status: int, headers: dict[str, str], body: bytes, name: str = "") -> None:
        """Send the answer with its fault."""
        self.hub.stopping.wait(fault.silent)
        status = fault.status or status
        if fault.status is not None and fault.status >= 400:
            body = b"no"
        else:
            status, headers, body = self._ranged(fault, status, headers, body)
        body = body[: len(body) - fault.chop] + fault.extra if fault.instead is None else fault.instead
        headers = {"Content-Length": str(len(body)), **headers, **fault.headers}
        try:
            self._head(fault, status, {key: value for key, value in headers.items() if value})
            if self.command != "HEAD":
                self._body(fault, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _ranged(
        self, fault: Fault, status: int, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if fault.flip is not None:
            body = body[: fault.flip] + bytes([body[fault.flip] ^ 255]) + body[fault.flip + 1 :]
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked is None or fault.whole or status != 200:
            return status, headers, body
        start, total = int(asked[1]) + fault.shift, len(body)
        if start >= total:
            return 416, {**headers, "Content-Range": f"bytes */{total}"}, b""
        return 206, {**headers, "Content-Range": f"bytes {start}-{total - 1}/{total}"}, body[start:]

    def _head(self, fault: Fault, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        while fault.trickling_head and not self.hub.stopping.wait(0.02):
            self.send_header("X-More", "of it")
            self.flush_headers()
        self.end_headers()

    def _body(self, fault: Fault, body: bytes) -> None:
        if fault.trickle:
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.hub.stopping.wait(fault.trickle):
                    return
        elif fault.hold_after is not None:
            self.wfile.write(body[: fault.hold_after])
            self.wfile.flush()
            self.hub.release.wait()
            self.close_connection = True
        elif fault.cut_after is not None:
            self.wfile.write(body[: fault.cut_after])
            self.wfile.flush()
            self.close_connection = True
        else:
            self.wfile.write(body)


class _HubHandler(_Handler):
    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/api/models":
            self.hub.note("search", self)
            self._search()
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/(.+)", path):
            self.hub.note("listing", self)
            self._listing(match[1], match[2])
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self.hub.note("head" if self.command == "HEAD" else "file", self)
            self._file(match[1], match[2], match[3])
        else:
            self.hub.note("other", self)
            self.answer(Fault(status=404), 404, {}, b"")

    do_HEAD = do_GET  # noqa: N815  the name that http.server looks for

    def _search(self) -> None:
        """What the hub was given to find, where the words are in the name."""
        asked = parse_qs(urlsplit(self.path).query)
        words = asked.get("search", [""])[0].lower()
        found = [one for one in self.hub.found if words in str(one.get("id")).lower()]
        body = json.dumps(found[: int(asked["limit"][0])]).encode()
        self.answer(self.hub.next_fault("search"), 200, {"Content-Type": "application/json"}, body)

    def _listing(self, name: str, revision: str) -> None:
        fault = self.hub.next_fault("listing")
        repo = self._allowed(name, revision, fault)
        if repo is None:
            return
        siblings = [_sibling(repo, file, content) for file, content in repo.files.items()]
        siblings += [{"rfilename": file, "size": 5} for file in repo.listed]
        body = json.dumps({"id": name, "sha": repo.commit, "siblings": siblings, "tags": []}).encode()
        self.answer(fault, 200, {"Content-Type": "application/json"}, body)

    def _file(self, name: str, revision: str, file: str) -> None:
        fault = self.hub.next_fault("head" if self.command == "HEAD" else "file")
        repo = self._allowed(name, revision, fault)
        if repo is None:
            return
        content = repo.files.get(file)
        if content is None:
            self.answer(Fault(status=404), 404, {"X-Error-Code": "EntryNotFound"}, b"")
            return
        headers = {"X-Repo-Commit": repo.commit, "Accept-Ranges": "bytes"}
        if repo.own_host and "cached" not in self.path and file not in repo.large:
            linked = {"X-Linked-Etag": f'"{git_hash(content)}"', "X-Linked-Size": str(len(content))}
            self.answer(fault, 307, headers | linked | {"Location": f"{self.path}?cached"}, b"")
        elif file not in repo.large:
            self.answer(fault, 200, headers | {"ETag": f'"{git_hash(content)}"'}, content)
        else:
            self._large(fault, headers, content, repo.claimed)

    def _large(self, fault: Fault, headers: dict[str, str], content: bytes, claimed: int | None) -> None:
        """To the CDN, with a signature."""
        sha256 = hashlib.sha256(content).hexdigest()
        headers |= {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(claimed or len(content))}
        headers |= {"Location": f"{self.hub.cdn}/blobs/{sha256}?signature={self.hub.sign()}"}
        self.answer(fault, 302, headers, b"")

    def _allowed(self, name: str, revision: str, fault: Fault) -> Repo | None:
        repo = self.hub.repos.get(name)
        if repo is not None and repo.renamed and "/resolve/" in self.path:
            self.answer(Fault(), 307, {"Location": self.path.replace(name, repo.renamed)}, b"")
        elif repo is None:
            self.answer(Fault(status=401), 401, {"X-Error-Code": "RepoNotFound"}, b"")
        elif revision not in (repo.commit, "main", repo.answers_to):
            self.answer(Fault(status=404), 404, {"X-Error-Code": "RevisionNotFound"}, b"")
        elif repo.token is not None and self.headers.get("Authorization") != f"Bearer {repo.token}":
            status = 403 if self.headers.get("Authorization") else 401
            self.answer(Fault(status=status), status, {"X-Error-Code": "GatedRepo"}, b"")
        else:
            return repo
        return None


class _CdnHandler(_Handler):
    def do_GET(self) -> None:
        self.hub.note("cdn", self)
        if self.hub.refuse_signature > 0:
            self.hub.refuse_signature -= 1
            self.answer(Fault(status=403), 403, {}, b"")
            return
        sha256 = urlsplit(self.path).path.rpartition("/")[2]
        content = self.hub.blob(sha256)
        if content is None:
            self.answer(Fault(status=404), 404, {}, b"")
            return
        self.answer(self.hub.next_fault("cdn"), 200, {"ETag": f'"cdn-{sha256[:12]}"'}, content)


def _sibling(repo: Repo, name: str, content: bytes) -> dict[str, object]:
    about: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": git_hash(content)}
    if name in repo.large:
        about["size"] = repo.claimed or len(content)
        about["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return about


def safetensors_hit(
    name: str, parameters: int, architecture: str = "LlamaForCausalLM", **more: object
) -> dict[str, object]:
    """A result of a search: a model in transformers' layout, with fields of the hub."""
    files = ("config.json", "tokenizer.json", "model.safetensors", "README.md")
    return {
        "_id": "c0ffee",
        "id": name,
        "siblings": [{"rfilename": file} for file in files],
        "config": {"architectures": [architecture], "model_type": "llama", "tokenizer_config": {}},
        "safetensors": {"parameters": {"BF16": parameters}, "total": parameters},
        "tags": ["transformers", "safetensors", "license:apache-2.0"],
        "downloads": 1000,
        "gated": False,
        **more,
    }


def gguf_hit(name: str, parameters: int, architecture: str = "llama", **more: object) -> dict[str, object]:
    """The same of a repository with GGUF files."""
    files = [f"small.{quantisation}.gguf" for quantisation in ("Q4_K_M", "Q8_0", "F16", "IQ2_XS")]
    return {
        "_id": "c0ffee",
        "id": name,
        "siblings": [{"rfilename": file} for file in ("README.md", *files)],
        "gguf": {"total": parameters, "architecture": architecture, "context_length": 8192},
        "tags": ["gguf", "license:mit"],
        "downloads": 10,
        "gated": False,
        **more,
    }
