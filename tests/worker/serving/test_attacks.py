"""Each request to the local server is treated as an attack."""

import asyncio
import contextlib
import json

import pytest

from sapo_desktop.worker.serving import http as http_module
from sapo_desktop.worker.serving import server as server_module
from sapo_desktop.worker.serving.http import BODY_BYTES, HEAD_BYTES
from sapo_desktop.worker.serving.server import MOST_ANSWERS, MOST_ARRIVING, LocalServer
from tests.worker.serving.programs import CHAT, KEY, FakeModel, ask, request, serving


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", f"Basic {KEY}", KEY, "Bearer \xff\xfe"],
)  # fmt: skip
async def test_without_the_key_nothing_is_read_or_answered(given: str) -> None:
    model = FakeModel()
    async with serving(model) as server:
        for path, body in (("/v1/models", None), (CHAT, request()), ("/", None), ("/admin", None)):
            reply = await ask(server, path, body, Authorization=given)
            assert (reply.status, reply.code) == (401, "invalid_api_key")
            assert KEY not in reply.body.decode()
    assert model.asked == []


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "wrong_host"),
        ({"Host": "evil.example:8766"}, "wrong_host"),
        ({"Host": "127.0.0.1"}, "wrong_host"),
        ({"Origin": "https://evil.example"}, "web_page"),
        ({"Origin": "null"}, "web_page"),
    ],
)
async def test_web_pages_and_rebound_names_are_refused_whatever_key_they_have(
    headers: dict[str, str], code: str
) -> None:
    async with serving(FakeModel()) as server:
        reply = await ask(server, CHAT, request(), **headers)
        assert (reply.status, reply.code) == (403, code)
        preflight = await ask(server, CHAT, method="OPTIONS", **headers)
        assert preflight.status == 403
        allowed = await ask(server, "/v1/models", Host=f"localhost:{server.port}")
        assert allowed.status == 200
    for found in (reply, preflight, allowed):
        assert not any(name.startswith("access-control") for name in found.headers)


def message(content: object) -> bytes:
    return json.dumps(request(("user", content))).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b"\xff\xfe\x00", b"{}", b'{"model": "sapo"}', b'{"model": "sapo", "messages": []}',
        b'{"messages": [{"role": "user", "content": "x"}]}', b"[" * 100_000, b'{"a":' * 50_000,
        message(None), message(7), message({"a": 1}), message([]), message([{"type": "image_url", "image_url": {}}]),
        message([{"text": "x"}]), message("  \x00 ".replace("\x00", "")),
        json.dumps(request(("wizard", "x"))).encode(), json.dumps(request(("tool", "x"))).encode(),
        json.dumps(request(("assistant", "x"))).encode(), json.dumps(request(("system", "x"))).encode(),
        json.dumps(request(("user", "x"), ("assistant", "y"))).encode(),
        json.dumps(request(("user", "x"), ("system", "y"))).encode(),
        json.dumps(request(("system", "s" * 30_000), ("user", "x"))).encode(),
        json.dumps(request(*[("user", "x"), ("assistant", "y")] * 51, ("user", "x"))).encode(),
        json.dumps(request(*[("user", "x")] * 1000)).encode(),
        json.dumps(request(n=2)).encode(), json.dumps(request(n="1")).encode(),
        json.dumps(request(logprobs=True)).encode(), json.dumps(request(tools=[{}])).encode(),
        json.dumps(request(response_format={"type": "json_object"})).encode(),
        json.dumps(request(temperature=-1)).encode(), json.dumps(request(temperature=1e300)).encode(),
        json.dumps(request(temperature=float("nan"))).encode(), json.dumps(request(temperature="1")).encode(),
        json.dumps(request(max_tokens=0)).encode(), json.dumps(request(max_tokens=1.5)).encode(),
        json.dumps(request(stop=[""])).encode(), json.dumps(request(stop=["a"] * 5)).encode(),
        json.dumps(request(stop="s" * 101)).encode(), json.dumps(request(stream="yes")).encode(),
        json.dumps(request(seed=1e400)).encode(), json.dumps(request(seed="x")).encode(),
    ],
)  # fmt: skip
async def test_rubbish_gets_an_error_that_says_what_is_wrong(body: bytes) -> None:
    model = FakeModel()
    async with serving(model) as server:
        reply = await ask(server, CHAT, body)
        assert (reply.status, reply.code) == (400, "invalid_request")
        assert len(reply.body) < 1000
        assert (await ask(server, CHAT, request())).status == 200
    assert len(model.asked) == 1


async def test_control_characters_are_text_like_any_other() -> None:
    odd = "a\x00b\x1b[2J\u202e\x7f\U0001f600 <|im_end|>"
    model = FakeModel()
    async with serving(model) as server:
        assert (await ask(server, CHAT, request(("user", odd)))).status == 200
        assert (
            await ask(server, CHAT, b'{"model":"sapo","messages":[{"role":"user","content":"\\ud800"}]}')
        ).status == 400
    assert [question for question, *_ in model.asked] == [odd]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v1", 404),
        ("GET", "/v1/completions", 404),
        ("GET", "/v1/models/../../etc/passwd", 404),
        ("GET", "/v1/models/gpt-4", 404),
        ("GET", CHAT, 405),
        ("DELETE", "/v1/models/starter", 405),
        ("HEAD", "/v1/models", 405),
        ("OPTIONS", CHAT, 405),
        ("TRACE", "/v1/models", 405),
    ],
)
async def test_other_paths_and_methods_are_named_as_wrong(method: str, path: str, status: int) -> None:
    async with serving(FakeModel()) as server:
        assert (await ask(server, path, method=method)).status == status


async def test_a_model_that_is_not_here_is_not_answered_for() -> None:
    model = FakeModel()
    async with serving(model) as server:
        reply = await ask(server, CHAT, request(model="gpt-4\x1b[2J" + "x" * 500))
    assert (reply.status, reply.code, model.asked) == (404, "model_not_found", [])
    assert "starter" in reply.json["error"]["message"] and len(reply.body) < 500


# -- bytes, and time -------------------------------------------------------------------------------------------


async def spoken(server: LocalServer, *parts: bytes, wait: float = 0.0) -> bytes:
    """What comes back for these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(wait)
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionError):
                return await reader.read()
            return b""
    finally:
        writer.transport.abort()


def head(server: LocalServer, *more: str, line: str = f"POST {CHAT} HTTP/1.1") -> bytes:
    lines = [line, f"Host: 127.0.0.1:{server.port}", f"Authorization: Bearer {KEY}", *more, "", ""]
    return "\r\n".join(lines).encode("latin-1")


async def test_a_body_that_is_too_long_is_refused_before_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "PARTING_SECONDS", 0.1)
    async with serving(FakeModel()) as server:
        long = b"x" * (BODY_BYTES + 1)
        assert b" 413 " in await spoken(server, head(server, f"Content-Length: {len(long)}"), long)
        chunk = b"40000\r\n" + b"x" * 0x40000 + b"\r\n"
        assert b" 413 " in await spoken(server, head(server, "Transfer-Encoding: chunked"), *[chunk] * 5)
        assert (await ask(server, CHAT, request())).status == 200


async def test_a_wrong_key_is_known_before_the_body_is_read() -> None:
    async with serving(FakeModel()) as server:
        asked = head(server, "Content-Length: 1000000").replace(KEY.encode(), b"wrong")
        async with asyncio.timeout(10):
            assert b" 401 " in await spoken(server, asked)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n",
        b"\r\n" * 20_000,
        b"GET /" + b"a" * HEAD_BYTES,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000,
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused_and_others_are_answered(sent: bytes) -> None:
    async with serving(FakeModel()) as server:
        reply = await spoken(server, sent)
        assert b" 4" in reply[:14]
        assert (await ask(server, "/v1/models")).status == 200


@pytest.mark.parametrize(
    "more",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Transfer-Encoding: gzip, chunked",),
    ],
)
async def test_a_body_of_two_lengths_is_refused(more: tuple[str, ...]) -> None:
    model = FakeModel()
    async with serving(model) as server:
        body = json.dumps(request()).encode()
        smuggled = head(server, *more) + b"0\r\n\r\n" + head(server, f"Content-Length: {len(body)}") + body
        reply = await spoken(server, smuggled)
    assert reply.count(b"HTTP/1.1 ") == 1 and b" 200 " not in reply[:20] and model.asked == []


async def test_one_connection_has_one_answer() -> None:
    model = FakeModel()
    async with serving(model) as server:
        body = json.dumps(request()).encode()
        one = head(server, f"Content-Length: {len(body)}") + body
        assert (await spoken(server, one * 3)).count(b"HTTP/1.1 200") == 1
    assert len(model.asked) == 1


async def test_who_sends_slowly_is_cut_off_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "ARRIVAL_SECONDS", 0.2)
    async with serving(FakeModel()) as server:
        slow = [head(server, "Content-Length: 100"), *[b"x"] * 8]
        assert b" 408 " in await spoken(server, *slow, wait=0.05)
        assert b" 408 " in await spoken(server, *[bytes([byte]) for byte in head(server)[:8]], wait=0.05)


async def test_many_that_say_nothing_keep_nobody_out() -> None:
    async with serving(FakeModel()) as server:
        silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3 * MOST_ARRIVING)]
        assert (await ask(server, CHAT, request())).status == 200
        assert len(server._arriving) <= MOST_ARRIVING
        for _, writer in silent:
            writer.transport.abort()


async def test_so_many_are_answered_at_once_and_others_are_to_come_again() -> None:
    model = FakeModel(hold=asyncio.Event())
    async with serving(model) as server:
        waiting = [asyncio.create_task(ask(server, CHAT, request())) for _ in range(MOST_ANSWERS)]
        async with asyncio.timeout(20):
            while len(model.asked) < MOST_ANSWERS:
                await asyncio.sleep(0.01)
        refused = await ask(server, CHAT, request())
        assert (refused.status, refused.code) == (429, "rate_limit_exceeded") and refused.headers["retry-after"]
        assert (await ask(server, "/v1/models")).status == 200
        assert model.hold is not None
        model.hold.set()
        assert [reply.status for reply in await asyncio.gather(*waiting)] == [200] * MOST_ANSWERS
        assert (await ask(server, CHAT, request())).status == 200


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_nobody_waits_for_is_given_up(streamed: bool) -> None:
    model = FakeModel(hold=asyncio.Event())
    async with serving(model) as server:
        body = json.dumps(request(stream=streamed)).encode()
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head(server, f"Content-Length: {len(body)}") + body)
        async with asyncio.timeout(20):
            while not model.asked:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            while not model.given_up:
                await asyncio.sleep(0.01)
        assert server._answering == 0


async def test_a_server_that_ends_gives_up_its_answers() -> None:
    model = FakeModel(hold=asyncio.Event())
    async with serving(model) as server:
        asking = asyncio.create_task(ask(server, CHAT, request()))
        async with asyncio.timeout(20):
            while not model.asked:
                await asyncio.sleep(0.01)
            await server.close()
    with contextlib.suppress(ConnectionError, Exception):
        await asking
    assert model.given_up == 1
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", server.port)
