"""Replies to programs that ask as they would ask OpenAI."""

import asyncio

import pytest

from sapo_desktop.core.errors import ContextFull, HostError, UsageError
from sapo_desktop.core.records import Exchange
from sapo_desktop.worker.serving import server as server_module
from sapo_desktop.worker.serving.chat import MOST_TOKENS, SHORTEST_LIMIT, Stops
from tests.worker.serving.programs import CHAT, FakeModel, ask, request, serving

SAID = "7+5=12 <answer>12</answer>"


async def test_a_program_lists_the_models_and_has_a_question_answered() -> None:
    model = FakeModel()
    async with serving(model) as server:
        listed = (await ask(server, "/v1/models")).json
        assert [entry["id"] for entry in listed["data"]] == ["sapo", "starter"]
        assert (await ask(server, "/v1/models/starter")).json["object"] == "model"
        reply = await ask(server, CHAT, request(user="somebody", top_p=0.9))
    said = reply.json
    assert reply.status == 200 and reply.headers["content-type"] == "application/json"
    assert said["object"] == "chat.completion" and said["model"] == "starter"
    assert said["system_fingerprint"] == "round-41"
    (choice,) = said["choices"]
    assert choice["message"] == {"role": "assistant", "content": SAID} and choice["finish_reason"] == "stop"
    assert said["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    question, turns, system, sampling = model.asked[0]
    assert (question, turns, system) == ("What is 7 + 5?", [], None)
    assert sampling.greedy and sampling.max_tokens == SHORTEST_LIMIT


async def test_a_conversation_becomes_turns_and_its_system_message_takes_the_place_of_ours() -> None:
    model = FakeModel()
    parts = [{"type": "text", "text": "And"}, {"type": "text", "text": "now?"}]
    messages = [
        ("system", "Be short."), ("developer", "Be kind."), ("user", "One?"), ("user", "Or two?"), ("assistant", "1"),
        ("user", parts),
    ]  # fmt: skip
    async with serving(model) as server:
        assert (await ask(server, CHAT, request(*messages))).status == 200
    question, turns, system, _ = model.asked[0]
    assert question == "And\nnow?" and system == "Be short.\n\nBe kind."
    assert turns == [Exchange(question="One?\n\nOr two?", answer="1")]


async def test_a_stream_brings_the_same_text_in_pieces_and_counts_at_its_end() -> None:
    async with serving(FakeModel()) as server:
        reply = await ask(server, CHAT, request(stream=True, stream_options={"include_usage": True}))
        assert reply.headers["content-type"] == "text/event-stream"
        first, *pieces, last, usage = reply.events
        assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert "".join(piece["choices"][0]["delta"]["content"] for piece in pieces) == SAID
        assert last["choices"][0] == {"delta": {}, "finish_reason": "stop", "index": 0, "logprobs": None}
        assert usage["choices"] == [] and usage["usage"]["total_tokens"] == 8
        assert len({event["id"] for event in reply.events}) == 1
        without = await ask(server, CHAT, request(stream=True))
    assert all(event["usage"] is None for event in without.events)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_stop_ends_the_answer_before_it_even_where_the_model_did_not_heed_it(streamed: bool) -> None:
    model = FakeModel(words=("one\n", "\n", "\ntwo"))
    async with serving(model) as server:
        reply = await ask(server, CHAT, request(stop=["\n\n", "three"], stream=streamed))
    if streamed:
        said = "".join(event["choices"][0]["delta"].get("content", "") for event in reply.events)
        finish = reply.events[-1]["choices"][0]["finish_reason"]
    else:
        said, finish = reply.json["choices"][0]["message"]["content"], reply.json["choices"][0]["finish_reason"]
    assert (said, finish) == ("one", "stop")
    assert model.asked[0][3].stop == ("\n\n", "three")


def test_an_end_that_may_become_a_stop_is_held_back() -> None:
    stops = Stops(("STOP", "ping"))
    assert [stops.shown(text) for text in ("a", "aS", "aSTO", "aSTX", "pin", "spin", "spinner")] == [
        "a", "a", "a", "aSTX", "", "s", "spinner"
    ]  # fmt: skip
    assert Stops(()).shown("aS") == "aS" and stops.cut("xpingSTOP") == ("x", True)


async def test_limits_seed_and_temperature_reach_the_model() -> None:
    model = FakeModel()
    asked = [
        {"max_tokens": 5, "temperature": 0}, {"max_completion_tokens": 7, "max_tokens": 9, "temperature": 0.7},
        {"max_tokens": 10**9, "temperature": 2, "seed": -1}, {"seed": 3, "stop": "x", "temperature": None},
    ]  # fmt: skip
    async with serving(model) as server:
        for more in asked:
            assert (await ask(server, CHAT, request(**more))).status == 200
    found = [sampling for *_, sampling in model.asked]
    assert [one.max_tokens for one in found] == [5, 7, MOST_TOKENS, SHORTEST_LIMIT]
    assert [one.greedy for one in found] == [True, False, False, True]
    assert (found[1].temperature, found[2].temperature) == (0.7, 2.0)
    assert (found[2].seed, found[3].seed, found[3].stop) == (2**31 - 1, 3, ("x",))


async def test_an_answer_that_reached_its_limit_says_so() -> None:
    async with serving(FakeModel(words=("one", " two"))) as server:
        assert (await ask(server, CHAT, request())).json["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ContextFull("This chat has 300 tokens by now."), 400, "context_length_exceeded"),
        (UsageError("Not so."), 400, "invalid_request"),
        (HostError("The engine died."), 503, "unavailable"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_the_node_says_of_a_failure_is_an_error_of_openais(
    error: UsageError, status: int, code: str, streamed: bool
) -> None:
    async with serving(FakeModel(error=error)) as server:
        reply = await ask(server, CHAT, request(stream=streamed))
    assert (reply.status, reply.code) == (status, code)
    assert reply.json["error"]["message"] == str(error)


async def test_a_stream_says_that_it_waits_and_a_failure_after_its_beginning_is_an_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(server_module, "ANSWER_SECONDS", 0.3)
    model = FakeModel(hold=asyncio.Event())
    async with serving(model) as server:
        reply = await ask(server, CHAT, request(stream=True))
    lines = [line for line in reply.body.decode().split("\n\n") if line]
    assert lines[1] == ": waiting for the model"
    assert '"code":"timeout"' in lines[-1] and "[DONE]" not in reply.body.decode()
    assert model.given_up == 1
