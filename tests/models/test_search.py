"""Searches of the hub: accepted entries of its list, and errors for a reply that is no list or never ends."""

import gzip
import json
from collections.abc import Iterator

import pytest

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import Access, HubModels
from sapo_desktop.models.search import search
from tests.models.hub_server import FakeHub, Fault, gguf_hit, running_hub, safetensors_hit, with_a_network


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with_a_network(monkeypatch)
    with running_hub() as server:
        yield server


def found(hub: FakeHub, words: str = "small", token: str | None = None) -> HubModels:
    return search(words, Access(endpoint=hub.endpoint, token=token))


def test_what_runs_here_is_taken_with_its_size_kind_and_licence(hub: FakeHub) -> None:
    hub.found = [
        safetensors_hit("o/small", 134_515_008),
        gguf_hit("o/small-GGUF", 134_515_008),
        gguf_hit("o/small-4B-GGUF", 4_000_000_000, "gemma3", gated="manual"),
        safetensors_hit("o/another", 1_000_000),
    ]
    reply = found(hub)
    folder, file, answers = reply.models
    assert (folder.repository, folder.kind, folder.architecture) == ("o/small", "transformers", "LlamaForCausalLM")
    assert (folder.bytes, folder.licence, folder.downloads) == (269_030_016, "apache-2.0", 1000)
    assert list(folder.files) == [] and folder.name == "o--small"
    assert list(file.files) == ["small.Q8_0.gguf"] and file.name == "o--small-GGUF--small.Q8_0"
    assert file.bytes == pytest.approx(143_000_000, rel=0.01)
    assert list(answers.files) == ["small.Q4_K_M.gguf"] and answers.gated and not answers.architecture
    assert reply.left_out == 0
    (asked,) = hub.asked
    assert "pipeline_tag=text-generation" in asked.path and "search=small" in asked.path


OTHERS = [
    safetensors_hit("o/small-1", 10**9, "Gemma3ForCausalLM"),
    safetensors_hit("o/small-2", 10**9, config={"architectures": ["LlamaForCausalLM"], "quantization_config": {}}),
    safetensors_hit("o/small-3", 10**9, safetensors={"parameters": {"U32": 10**9}, "total": 10**9}),
    safetensors_hit("o/small-4", 10**9, siblings=[{"rfilename": "pytorch_model.bin"}]),
    safetensors_hit("o/small-5", 10**9, siblings=[]),
    safetensors_hit("o/small-6", 10**9, config=None, safetensors=None),
    safetensors_hit("o/small-7", -5),
    safetensors_hit("o/small-8", 10**30),
    safetensors_hit("../../small", 10**9),
    safetensors_hit("o/small\n\x1b[31m", 10**9),
    safetensors_hit("small", 10**9),
    gguf_hit("o/small-9", 0),
    gguf_hit("o/small-10", 10**9, siblings=[{"rfilename": "sub/small.gguf"}]),
    gguf_hit("o/small-11", 10**9, gguf={"total": "many"}),
    gguf_hit("o/small-12", 10**9, downloads="many"),
    gguf_hit("o/small-13", 10**9, tags=7),
]


def test_what_does_not_run_or_is_no_description_is_left_out_and_counted(hub: FakeHub) -> None:
    hub.found = [*OTHERS, safetensors_hit("o/smaller", 10**8)]
    reply = found(hub)
    assert [model.repository for model in reply.models] == ["o/smaller"] and reply.left_out == len(OTHERS)


def test_a_licence_that_is_no_name_is_none(hub: FakeHub) -> None:
    hub.found = [safetensors_hit("o/small", 10**8, tags=["license:\x1b[2J", f"license:{'x' * 100}"])]
    assert found(hub).models[0].licence == ""


@pytest.mark.parametrize(
    "body",
    [
        *(b"<html>Welcome to our cafe</html>", b'{"error": 1}', b"null", b"[7]", b"[" * 100_000),
        b'[{"id": "o/small", "siblings": [{}]}]',
    ],
    ids=lambda body: "",
)  # fmt: skip
def test_rubbish_is_one_clear_sentence(hub: FakeHub, body: bytes) -> None:
    hub.plan("search", Fault(instead=body))
    with pytest.raises(DownloadError, match=r"does not answer like a hub .* Set HF_ENDPOINT to another\."):
        found(hub)


def test_an_answer_without_an_end_is_not_read_to_it(hub: FakeHub) -> None:
    hub.plan("search", Fault(instead=b"[" + b" " * 30_000_000 + b"]"))
    with pytest.raises(DownloadError, match=r"does not answer like a hub \(more than 20 MB\)"):
        found(hub)


def test_what_would_unfold_is_not_unfolded(hub: FakeHub) -> None:
    packed = gzip.compress(b"[]")
    hub.plan("search", Fault(instead=packed, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(DownloadError, match="does not answer like a hub"):
        found(hub)


def test_further_pages_are_not_asked_for_and_no_token_goes_out(hub: FakeHub) -> None:
    body = json.dumps([safetensors_hit("o/small", 10**8)]).encode()
    link = {"Link": f'<{hub.cdn}/more>; rel="next"'}
    hub.plan("search", Fault(instead=body, headers=link))
    assert len(found(hub, token="hf_secret").models) == 1
    (asked,) = hub.asked
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "searches nothing without an account"), (403, "searches nothing without"), (404, "answers 404. Try again")],
)
def test_a_refusal_says_what_to_do(hub: FakeHub, status: int, said: str) -> None:
    hub.plan("search", Fault(status=status))
    with pytest.raises(DownloadError, match=said):
        found(hub)


def test_a_hub_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with_a_network(monkeypatch)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(DownloadError, match=r"connection to 127.0.0.1 broke.*Try again later"):
        search("small", Access(endpoint="http://127.0.0.1:9"))
