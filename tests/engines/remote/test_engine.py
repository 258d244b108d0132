"""The remote generator against a scripted server of every dialect, whole and broken."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import (
    AdapterRefused,
    HostCancelled,
    HostError,
    NotWritten,
    RemoteError,
    SapoError,
    UsageError,
)
from sapo_desktop.core.records import Completion, Sampling
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.remote import http as remote_http
from sapo_desktop.engines.remote.dialects import Raw
from sapo_desktop.engines.remote.engine import create
from sapo_desktop.engines.remote.http import base_url, in_the_clear
from sapo_desktop.engines.remote.tokens import Translator
from sapo_desktop.engines.tokenizer import ModelTokenizer, load_tokenizer
from tests.builders import as_prompt, as_prompts
from tests.engines.real_models import save_real_model
from tests.engines.remote.serving import Scripted, served

QUESTIONS = ["What is 17 + 25?", "What is 3 + 4?"]
TELLS_TEXTS = ["sglang", "llama-server", "texts", "one-by-one", "strict", "chat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_real_model(tmp_path_factory.mktemp("remote") / "qwen2.5", "qwen2.5")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries are written down instead of waited for."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(remote_http, "wait", pause)
    return waited


class Connected:
    """A service connected to a scripted server."""

    def __init__(self, script: Scripted, url: str, folder: Path, **options: Any) -> None:
        self.script = script
        self.service = create()
        self.progress: list[msgspec.Struct] = []
        request = p.LoadRemote(url=url, folder=str(folder), **({"model": "", "seconds": 5.0} | options))
        self.loaded = self.handle(request)
        script.asked.clear()

    def handle(self, request: Any) -> Any:
        return self.service.handle(request, self.progress.append)

    def generate(self, prompts: list[str] = QUESTIONS, answers: int = 3, **options: Any) -> p.Generated:
        base = options.pop("base", False)
        sampling = Sampling(**({"max_tokens": 12, "seed": 5} | options))
        return self.handle(p.Generate(prompts=as_prompts(prompts), answers=answers, sampling=sampling, base=base))


Connect = Callable[..., Connected]


@pytest.fixture
def connect(folder: Path) -> Iterator[Connect]:
    """Connects a new service to a new scripted server."""
    words, open_servers = load_tokenizer(folder), []

    def connected(dialect: str = "vllm", script: Scripted | None = None, **options: Any) -> Connected:
        script = script or Scripted(dialect, words)
        server = served(script)
        url = server.__enter__()
        open_servers.append(server)
        return Connected(script, url, folder, **options)

    yield connected
    for server in open_servers:
        server.__exit__(None, None, None)


def flat(made: p.Generated) -> list[Completion]:
    return [completion for group in made.completions for completion in group]


@pytest.fixture
def node(connect: Connect) -> Any:
    return connect("vllm")


def test_what_was_sampled_comes_back_by_id_with_its_log_probabilities(node: Any) -> None:
    made = node.generate()
    wanted = []
    for path, body in node.script.asked:
        assert body["prompt"] in made.prompt_tokens and path == "/v1/completions"
        wanted += [node.script.sampled(body["prompt"], body["seed"], number, 12) for number in range(body["n"])]
    assert sorted(c.tokens for c in flat(made)) == sorted(wanted)
    assert [len(group) for group in made.completions] == [3, 3]
    end = node.script.words.end_token
    for completion in flat(made):
        assert completion.logprobs == [Scripted.logprob(token) for token in completion.tokens]
        assert (completion.finish == "stop") == (completion.tokens[-1] == end)
        assert "<|" not in completion.text
    assert any(c.finish == "stop" for c in flat(made)) and any(c.finish == "length" for c in flat(made))


@pytest.mark.parametrize("dialect", TELLS_TEXTS)
def test_texts_become_our_ids_and_it_is_said_what_is_missing(connect: Connect, dialect: str) -> None:
    node = connect(dialect)
    made = node.generate()
    assert [len(group) for group in made.completions] == [3, 3]
    for completion in flat(made):
        assert completion.tokens and max(completion.tokens) < node.loaded.vocabulary
        assert completion.text == node.script.words.text(completion.tokens)
        assert completion.logprobs == []
    assert {path for path, _ in node.script.asked} == {f"/v1/{'chat/' * (dialect == 'chat')}completions"}
    assert len(node.script.asked) == (6 if dialect == "one-by-one" else 2)
    said = " ".join(map(str, node.loaded.said))
    assert ("offers chat only" in said) == (dialect == "chat")
    assert not node.loaded.learns and "nothing is learned" in said


@pytest.mark.parametrize(
    ("dialect", "off", "repeat"),
    [("vllm", -1, "repetition_penalty"), ("sglang", -1, "repeat_penalty"), ("llama-server", 0, "repeat_penalty")],
)
def test_every_sampling_option_is_sent_so_that_none_is_filled_in(
    connect: Connect, dialect: str, off: int, repeat: str
) -> None:
    node = connect(dialect)
    made = node.generate(temperature=0.7)
    (_, sent), *_ = node.script.asked
    assert sent["prompt"] in made.prompt_tokens and sent[repeat] == 1.0
    assert [sent[name] for name in ("temperature", "top_p", "top_k", "min_p")] == [0.7, 1.0, off, 0.0]
    assert all(c.logprobs == [] for c in flat(made)), "which distribution they are of is not certain"
    node.script.asked.clear()
    node.generate(greedy=True)
    (_, sent), *_ = node.script.asked
    assert (sent["top_k"], sent["temperature"]) == (off, 0.0)


def test_a_seed_repeats_and_another_does_not(node: Any) -> None:
    first, again, other = (node.generate(seed=seed).completions for seed in (1, 1, 2))
    assert first == again != other
    assert first[0] != first[1]


def test_the_progress_counts_answers_and_shows_one_that_ended(connect: Connect) -> None:
    node = connect("one-by-one")
    made = node.generate()
    progress = [t for t in node.progress if isinstance(t, p.GenerationProgress)]
    assert [t.finished for t in progress] == [1, 2, 3, 4, 5, 6] and all(t.total == 6 for t in progress)
    answers = flat(made)
    assert all(t.ended is not None and t.ended.text == answers[t.ended.place].text for t in progress)


def test_a_single_answer_is_reported_as_text(node: Any) -> None:
    made = node.generate(QUESTIONS[:1], answers=1)
    assert [t.text for t in node.progress if isinstance(t, p.TokenText)] == [made.completions[0][0].text]


def test_the_context_is_the_smaller_of_both_and_a_full_prompt_is_not_sent(node: Any) -> None:
    assert node.loaded.context == 512
    made = node.generate(["What? " * 400, QUESTIONS[0]], answers=2)
    assert [len(c.tokens) for c in made.completions[0]] == [0, 0]
    assert len(node.script.asked) == 1 and all(c.tokens for c in made.completions[1])


def test_texts_of_peers_are_encoded_here(node: Any) -> None:
    reply = node.handle(p.Encode(texts=["42", "<|im_end|>"], end=True, questions=as_prompts(QUESTIONS)))
    words = node.script.words
    assert reply.tokens == [words.encode_external("42", end=True), None]
    assert reply.prompts == [words.prompt_tokens(as_prompt(question)) for question in QUESTIONS]


# -- models and keys ---------------------------------------------------------------------------------------------


def test_one_of_several_models_must_be_named(connect: Connect, folder: Path) -> None:
    def script() -> Scripted:
        models = [{"id": name, "owned_by": "vllm", "parent": None} for name in ("large", "small")]
        return Scripted("vllm", load_tokenizer(folder), models=models)

    with pytest.raises(UsageError, match=r"2 models \(large, small\)"):
        connect(script=script())
    with pytest.raises(UsageError, match="no model 'huge', but large, small"):
        connect(script=script(), model="huge")
    node = connect(script=script(), model="small")
    node.generate()
    assert {body["model"] for _, body in node.script.asked} == {"small"}


def test_a_model_with_fewer_tokens_is_another_model(connect: Connect, folder: Path) -> None:
    models = [{"id": "other", "owned_by": "llamacpp", "meta": {"n_vocab": 300}}]
    with pytest.raises(UsageError, match="but the one here has"):
        connect(script=Scripted("llama-server", load_tokenizer(folder), models=models))


def test_the_key_is_sent_and_a_wrong_one_is_reported(connect: Connect, folder: Path) -> None:
    words = load_tokenizer(folder)
    assert connect(script=Scripted("vllm", words, key="secret"), key="secret").generate().completions
    with pytest.raises(HostError, match="does not accept the key"):
        connect(script=Scripted("vllm", words, key="secret"), key="wrong")


def test_the_key_does_not_follow_a_redirect(connect: Connect, folder: Path) -> None:
    script = Scripted("vllm", load_tokenizer(folder), key="secret", faults=["redirect"])
    with pytest.raises(HostError, match="302"):
        connect(script=script, key="secret")


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://gpu:8000", "http://gpu:8000"),
        (" http://gpu:8000/v1/ ", "http://gpu:8000"),
        ("https://gpu.example/serve/v1", "https://gpu.example/serve"),
    ],
)
def test_addresses_are_taken_as_other_clients_want_them(url: str, base: str) -> None:
    assert base_url(url) == base


@pytest.mark.parametrize("url", ["", "gpu:8000", "ftp://gpu", "http://", "http://me:pw@gpu", "http://gpu/?key=1"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="address"):
        base_url(url)


def test_a_key_in_the_clear_is_seen() -> None:
    assert in_the_clear("http://gpu:8000")
    assert not in_the_clear("https://gpu:8000") and not in_the_clear("http://127.0.0.1:8000")


def test_a_key_never_goes_unencrypted(connect: Connect, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted("vllm", load_tokenizer(folder), key="secret")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(remote_http, "_LOOPBACK", {"localhost"})  # so 127.0.0.1 is as far away as any other
    with pytest.raises(UsageError, match="not encrypted"):
        connect(script=script, key="secret")
    assert script.asked == []


# -- adapters ----------------------------------------------------------------------------------------------------


def adapter(folder: Path) -> Path:
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"numbers")
    (folder / "adapter_config.json").write_text("{}")
    return folder


def shelf(shared: Path, owner: str = "00aa") -> p.AdapterFolder:
    return p.AdapterFolder(path=str(shared), owner=owner)


def test_adapters_are_loaded_one_after_the_other_under_new_names(connect: Connect, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    node = connect("vllm", adapters=shelf(shared))
    assert node.loaded.learns and not any("nothing is learned" in str(text) for text in node.loaded.said)
    used = []
    for number in range(2):
        node.handle(p.UseAdapter(file=str(adapter(tmp_path / f"step{number}"))))
        node.script.asked.clear()
        node.generate()
        used.append({body["model"] for _, body in node.script.asked})
        assert used[-1] == set(node.script.adapters), "the newest, and it alone"
        assert [path.name for path in shared.iterdir()] == list(node.script.adapters)
    assert used[0] != used[1]
    node.script.asked.clear()
    node.generate(base=True)
    assert {body["model"] for _, body in node.script.asked} <= {"tiny"}
    node.handle(p.UseAdapter(file=None))
    assert node.script.adapters == {} and list(shared.iterdir()) == []


def test_a_server_that_takes_no_adapters_is_said_with_what_to_do(connect: Connect, tmp_path: Path) -> None:
    node = connect("vllm", adapters=shelf(tmp_path / "shared"))
    node.script.takes_adapters = False
    with pytest.raises(AdapterRefused, match=r"docs/remote\.md"):
        node.handle(p.UseAdapter(file=str(adapter(tmp_path / "step"))))
    assert list((tmp_path / "shared").iterdir()) == []
    without = connect("vllm")
    with pytest.raises(UsageError, match="nothing is learned"):
        without.handle(p.UseAdapter(file=str(tmp_path / "step")))


def test_an_adapter_whose_loading_was_not_confirmed_is_loaded_all_the_same(connect: Connect, tmp_path: Path) -> None:
    node = connect("vllm", adapters=shelf(tmp_path / "shared"))
    node.script.faults = ["lost"]
    node.handle(p.UseAdapter(file=str(adapter(tmp_path / "step"))))
    assert len(node.script.adapters) == 1
    node.generate()
    node.handle(p.UseAdapter(file=None))
    assert node.script.adapters == {} and list((tmp_path / "shared").iterdir()) == []


def test_an_adapter_that_may_have_been_loaded_is_unloaded_after_the_next(connect: Connect, tmp_path: Path) -> None:
    node = connect("vllm", adapters=shelf(tmp_path / "shared"))
    node.script.faults = ["lost", *["cut"] * 4]
    with pytest.raises(HostError):
        node.handle(p.UseAdapter(file=str(adapter(tmp_path / "step1"))))
    assert list((tmp_path / "shared").iterdir()) == []
    lost = set(node.script.adapters)
    assert len(lost) == 1
    node.handle(p.UseAdapter(file=str(adapter(tmp_path / "step2"))))
    assert len(node.script.adapters) == 1 and not lost & set(node.script.adapters)
    assert [path.name for path in (tmp_path / "shared").iterdir()] == list(node.script.adapters)


def test_what_cannot_be_copied_leaves_nothing(connect: Connect, tmp_path: Path) -> None:
    node = connect("vllm", adapters=shelf(tmp_path / "shared"))
    whole = adapter(tmp_path / "step")
    (whole / "adapter_config.json").unlink()
    with pytest.raises(NotWritten, match="or set remote_adapters"):
        node.handle(p.UseAdapter(file=str(whole)))
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_cancel_while_an_adapter_is_loaded_leaves_no_folder(connect: Connect, tmp_path: Path) -> None:
    node = connect("vllm", adapters=shelf(tmp_path / "shared"), seconds=60.0)
    node.script.faults = ["hang"]
    asked = node.script.was_asked
    asked.clear()
    threading.Thread(target=lambda: asked.wait() and node.service.cancelled.set(), daemon=True).start()
    with pytest.raises(HostCancelled):
        node.handle(p.UseAdapter(file=str(adapter(tmp_path / "step"))))
    assert list((tmp_path / "shared").iterdir()) == []


def test_what_a_killed_node_left_is_swept_at_its_next_start(connect: Connect, folder: Path, tmp_path: Path) -> None:
    script, shared = Scripted("vllm", load_tokenizer(folder)), tmp_path / "shared"
    killed = connect(script=script, adapters=shelf(shared, "00aa"))
    killed.handle(p.UseAdapter(file=str(adapter(tmp_path / "step1"))))
    other = connect(script=script, adapters=shelf(shared, "00bb"))
    other.handle(p.UseAdapter(file=str(adapter(tmp_path / "step2"))))
    (mine,) = (name for name in script.adapters if "00aa" in name)
    script.adapters["sapo-00aa-../../step1"] = "a server may say anything"
    (shared / "sapo-00aa-notes").mkdir()
    connect(script=script, adapters=shelf(shared, "00aa"))
    assert mine not in script.adapters and not (shared / mine).exists()
    assert sum("00bb" in name for name in script.adapters) == 1, "another node's stay"
    assert (tmp_path / "step1").exists() and (shared / "sapo-00aa-notes").exists()


# -- a server that breaks ------------------------------------------------------------------------------------------


def short_answer(reply: Any) -> None:
    reply["choices"].pop()


def external_ids(reply: Any) -> None:
    for choice in reply["choices"]:
        choice["token_ids"][0] = 10**9


def other_number(reply: Any) -> None:
    reply["choices"][0]["logprobs"]["token_logprobs"].pop()


def too_long(reply: Any) -> None:
    choice = reply["choices"][0]
    choice["token_ids"] *= 50
    choice["logprobs"] = None
    choice["text"] *= 50


def endless_text(reply: Any) -> None:
    reply["choices"][0]["text"] *= 10**5


def endless_ids(reply: Any) -> None:
    reply["choices"][0]["token_ids"] *= 10**5
    reply["choices"][0]["logprobs"] = None


BREAKS = [500, 503, 429, 408, "cut", "half", "gzip", b"", b"<html>busy</html>", b"[" * 100_000, b'{"choices": 3}',
          b'{"choices": [{"text": "a", "logprobs": {"token_logprobs": [NaN]}}]}',
          short_answer, other_number, too_long, endless_text, endless_ids]  # fmt: skip


@pytest.mark.parametrize("fault", BREAKS, ids=[getattr(f, "__name__", str(f)[:20]) for f in BREAKS])
def test_what_breaks_once_is_asked_again(node: Any, fault: Any, no_pauses: list[float]) -> None:
    whole = node.generate()
    no_pauses.clear()
    node.script.faults = [fault]
    assert node.generate().completions == whole.completions
    assert no_pauses == ([7.0] if fault == 429 else [0.5])


@pytest.mark.parametrize("fault", [503, "cut", "gzip", b"<html>busy</html>", short_answer])
def test_what_stays_broken_is_an_error_in_a_sentence(node: Any, fault: Any, no_pauses: list[float]) -> None:
    node.script.faults = [fault] * 100
    with pytest.raises(HostError, match=r"Check whether the server runs"):
        node.generate(QUESTIONS[:1])
    assert no_pauses == [0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize("fault", [endless_text, endless_ids])
def test_what_is_too_long_is_dropped(node: Any, folder: Path, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0

    def measured(one: Any, what: Any) -> Any:
        nonlocal longest
        longest = max(longest, len(what))
        return whole(one, what)

    whole = ModelTokenizer.text
    monkeypatch.setattr(ModelTokenizer, "text", measured)
    node.script.faults = [fault] * 100
    with pytest.raises(HostError, match="where at most 12"):
        node.generate(QUESTIONS[:1])
    assert longest <= 12


def test_an_end_that_the_server_alone_knows_is_kept_as_it_was_sampled(folder: Path) -> None:
    """llama.cpp ends at `<|endoftext|>` whether or not the model names it; here at another of the special tokens."""
    words = load_tokenizer(folder)
    (seven,) = words.backend("7", add_special_tokens=False)["input_ids"]
    other = words.backend.convert_tokens_to_ids("<|im_start|>")
    assert other not in words.stop_tokens
    translator = Translator(words, len(words.backend))
    ended = Raw("7", [seven, other], [-0.5, -0.25], True)
    wanted = Completion(tokens=[seven, other], logprobs=[-0.5, -0.25], text="7", finish="stop")
    assert translator.read(ended, 2, Sampling(), cut=True).completion == wanted
    left_out = Raw("7", [seven], [-0.5], True)
    wanted = Completion(tokens=[seven, words.end_token], logprobs=[-0.5], text="7", finish="stop")
    assert translator.read(left_out, 2, Sampling(), cut=True).completion == wanted


@pytest.mark.parametrize("cut", [True, False])
def test_a_text_without_ids_is_cut_where_it_is_learned_from(folder: Path, cut: bool) -> None:
    """An older vLLM tells no ids, and its text may take more tokens here than it sampled."""
    words = load_tokenizer(folder)
    whole = words.backend("1 2 3 4", add_special_tokens=False)["input_ids"]
    translator = Translator(words, len(words.backend))
    found = translator.read(Raw("1 2 3 4", None, None, False), 2, Sampling(), cut=cut).completion
    assert found.tokens == (whole[:2] if cut else whole) and len(whole) > 2
    ended = translator.read(Raw("1 2 3 4", None, None, True), 2, Sampling(), cut=cut).completion
    assert ended.tokens == [*(whole[:1] if cut else whole), words.end_token]


def test_ids_that_are_not_ours_are_not_learned_from(node: Any) -> None:
    node.script.faults = [external_ids]
    made = node.generate(QUESTIONS[:1])
    for completion in flat(made):
        assert completion.logprobs == [] and max(completion.tokens) < node.loaded.vocabulary


def test_a_server_with_another_vocabulary_is_reported_at_once(connect: Connect, folder: Path) -> None:
    script = Scripted("vllm", load_tokenizer(folder), faults=[None, external_ids])
    assert any("Check that both are the same" in str(text) for text in connect(script=script).loaded.said)


def test_a_refusal_is_reported_once_and_cleaned(node: Any) -> None:
    node.script.models.clear()
    with pytest.raises(HostError, match=r"refuses \(404: no, vllm does not do that\)") as refusal:
        node.generate(QUESTIONS[:1])
    assert str(refusal.value).isprintable()
    assert type(refusal.value) is RemoteError, "the worker knows the class"
    assert len(node.script.asked) == 1


def test_a_reply_without_end_is_cut_off(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_http, "MOST_BYTES", 2**20)
    node = connect("vllm")
    node.script.faults = ["endless"]
    assert node.generate(QUESTIONS[:1]).completions
    assert node.script.was_cut.wait(30)


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_a_server_that_does_not_come_to_an_end_is_given_up(connect: Connect, fault: str) -> None:
    node = connect("vllm", seconds=0.5)
    node.script.faults = [fault] * 100
    with pytest.raises(HostError, match="does not answer in time"):
        node.generate(QUESTIONS[:1])


def test_a_cancel_ends_the_requests(connect: Connect) -> None:
    node = connect("vllm", seconds=60.0)
    node.script.faults = ["hang"] * 100
    asked = node.script.was_asked
    asked.clear()
    threading.Thread(target=lambda: asked.wait() and node.service.cancelled.set(), daemon=True).start()
    with pytest.raises(HostCancelled):
        node.generate()
    assert node.script.was_cut.wait(30), "the server sees that nobody waits any more"


def test_nobody_at_the_address(folder: Path) -> None:
    with pytest.raises(HostError, match="cannot be reached"):
        create().handle(p.LoadRemote(url="http://127.0.0.1:1", model="", folder=str(folder)), lambda _: None)


def test_work_before_a_connection_is_refused() -> None:
    with pytest.raises(SapoError, match="before a model was loaded"):
        create().handle(p.Generate(prompts=as_prompts([]), answers=1, sampling=Sampling()), lambda _: None)


def test_nothing_asked_is_nothing_sent(node: Any) -> None:
    assert node.generate([]).completions == [] and node.script.asked == []
