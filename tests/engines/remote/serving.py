"""A small server that speaks as vLLM, as SGLang and llama-server do at OpenAI's endpoints, or plainly; it can break.

What it samples is drawn from a hash of prompt and seed, so that a test can ask it what an answer must be. `faults`
are taken one a request: a status, or a way of breaking.
"""

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sapo_desktop.engines.tokenizer import ModelTokenizer
from tests.builders import as_prompt

Reply = dict[str, Any] | list[Any]
OWNERS = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llama-server": "llamacpp",
    "texts": "somebody",
    "one-by-one": "somebody",
    "strict": "somebody",
    "chat": "somebody",
}


class Says(Exception):
    """A request is refused with 400 and these words."""


@dataclass
class Scripted:
    """What the server is, what it was asked, and what it does next."""

    dialect: str
    words: ModelTokenizer
    key: str | None = None
    faults: list[Any] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    adapters: dict[str, str] = field(default_factory=dict)
    takes_adapters: bool = True
    was_asked: threading.Event = field(default_factory=threading.Event)
    was_cut: threading.Event = field(default_factory=threading.Event)
    """Set where the other end went away before the reply."""
    let_go: threading.Event = field(default_factory=threading.Event)
    """Ends what hangs."""

    def sampled(self, prompt: list[int], seed: int, number: int, limit: int) -> list[int]:
        """Printable tokens, ended where there is room: what answer `number` to a request must be."""
        drawn = hashlib.sha256(f"{prompt}|{seed}|{number}".encode()).digest()
        ids = [self.words.backend("answer is 0123456789 <b", add_special_tokens=False)["input_ids"]][0]
        length = 3 + drawn[0] % 12
        tokens = [ids[byte % len(ids)] for byte in drawn[1 : 1 + length]]
        return [*tokens, self.words.end_token][:limit]

    @staticmethod
    def logprob(token: int) -> float:
        return -((token % 17) + 1) / 8

    def reply(self, path: str, body: Any) -> Reply | int:
        """What a request is answered, or the status it is refused with."""
        if path == "/v1/models":
            added = [{"id": name, "parent": "tiny"} for name in self.adapters]
            return {"object": "list", "data": [*self.models, *added]}
        handler = {
            "/v1/completions": self.completions,
            "/v1/chat/completions": self.chat,
            "/props": self.props,
            "/v1/load_lora_adapter": self.load_adapter,
            "/v1/unload_lora_adapter": self.unload_adapter,
        }.get(path)
        return 404 if handler is None else handler(body)

    def completions(self, body: Any) -> Reply | int:
        if self.dialect == "chat":
            return 404
        if self.dialect == "strict" and "top_k" in body:
            return 400
        if body["model"] not in {m["id"] for m in self.models} | set(self.adapters):
            return 404
        prompt = body["prompt"]
        if isinstance(prompt, str):
            prompt = list(self.words.backend(prompt)["input_ids"])
        choices = []
        for number in range(1 if self.dialect == "one-by-one" else body.get("n", 1)):
            ids = self.sampled(prompt, body["seed"], number, body["max_tokens"])
            choices.append(self.choice(number, ids, body))
        return {"choices": choices, "usage": {}}

    def choice(self, number: int, ids: list[int], body: Any) -> dict[str, Any]:
        ended = ids[-1:] == [self.words.end_token]
        made: dict[str, Any] = {
            "index": number,
            "text": self.words.text(ids),
            "finish_reason": "stop" if ended else "length",
            "logprobs": None,
        }
        if self.dialect == "vllm":
            made["token_ids"] = ids
        if "logprobs" in body:
            made["logprobs"] = {"token_logprobs": [self.logprob(i) for i in ids]}
        return made

    def chat(self, body: Any) -> Reply | int:
        prompt = self.words.prompt_tokens(as_prompt(body["messages"][-1]["content"]))
        choices = []
        for number in range(body["n"]):
            ids = self.sampled(prompt, body["seed"], number, body["max_tokens"])
            message = {"role": "assistant", "content": self.words.text(ids)}
            ended = ids[-1] == self.words.end_token
            finish = "stop" if ended else "length"
            choices.append({"index": number, "message": message, "finish_reason": finish})
        return {"choices": choices[::-1]}  # any order is allowed: they have numbers

    def props(self, body: Any) -> Reply | int:
        return {"default_generation_settings": {"n_ctx": 512}} if self.dialect == "llama-server" else 404

    def load_adapter(self, body: Any) -> Reply | int:
        folder = Path(body["lora_path"])
        if not self.takes_adapters or not (folder / "adapter_model.safetensors").is_file():
            return 404
        name = body["lora_name"]
        if name in self.adapters:
            raise Says(f"The lora adapter '{name}' has already been loaded.")
        self.adapters[name] = body["lora_path"]
        return {"success": True}

    def unload_adapter(self, body: Any) -> Reply | int:
        return {"success": True} if self.adapters.pop(body["lora_name"], None) else 404


class Handler(BaseHTTPRequestHandler):
    """Answers one request as the script says."""

    script: Scripted
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        self.script.asked.append((self.path, body))
        self.script.was_asked.set()
        if self.script.key is not None and self.headers["Authorization"] != f"Bearer {self.script.key}":
            self._send(401, b"{}")
            return
        fault = self.script.faults.pop(0) if self.script.faults else None
        if fault == "lost":  # it is done, and nobody learns of it
            self.script.reply(self.path, body)
            fault = "cut"
        if fault is not None and self._break(fault):
            return
        try:
            reply = self.script.reply(self.path, body)
        except Says as words:
            self._send(400, json.dumps(self._refusal(str(words))).encode())
            return
        if isinstance(reply, int):
            error = {"error": {"message": f"no, {self.script.dialect} does not do\u202e\x07 that", "code": reply}}
            self._send(reply, json.dumps(error).encode())
            return
        if callable(fault):
            fault(reply)
        self._send(200, json.dumps(reply).encode())

    def _refusal(self, words: str) -> Reply:
        return {"error": {"message": words, "code": 400}}

    def _break(self, fault: Any) -> bool:
        """Whether the request was answered, or not answered, by this fault."""
        match fault:
            case int():
                self._send(fault, b'{"detail": "so"}', {"Retry-After": "7"} if fault == 429 else {})
            case bytes():
                self._send(200, fault)
            case "gzip":
                self._send(200, b"this is not packed", {"Content-Encoding": "gzip"})
            case "cut":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            case "half":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [')
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            case "hang":
                self._hang()
            case "endless":
                self._send_on(b" " * 65536, 0.0)
            case "drip":
                self._send_on(b" ", 0.02)
            case "redirect":
                self._send(302, b"", {"Location": "http://127.0.0.1:1/steal"})
            case _:
                return False
        return True

    def _hang(self) -> None:
        """Say nothing until the other end goes away."""
        self.connection.settimeout(0.05)
        while not self.script.let_go.is_set():
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    self.script.was_cut.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                self.script.was_cut.set()
                break
        self.close_connection = True

    def _send_on(self, part: bytes, pause: float) -> None:
        """A reply without an end."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while not self.script.let_go.wait(pause):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        except OSError:
            self.script.was_cut.set()
        self.close_connection = True

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: a test's output is its own."""


@contextmanager
def served(script: Scripted) -> Iterator[str]:
    """Run the server; gives its address."""
    if not script.models:
        about = {"id": "tiny", "owned_by": OWNERS[script.dialect], "parent": None}
        if script.dialect in ("vllm", "sglang"):
            about["max_model_len"] = 512
        if script.dialect == "llama-server":
            about["meta"] = {"n_vocab": len(script.words.backend), "n_ctx_train": 1024}
        script.models.append(about)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripts", (Handler,), {"script": script}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        script.let_go.set()
        server.shutdown()
        server.server_close()
