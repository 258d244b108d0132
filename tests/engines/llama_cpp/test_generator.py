"""llama.cpp as a generator: the torch engine's answers with exact weights, and all duties of a host."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import HostCancelled, HostError, ModelError, OutOfMemory, TooBig
from sapo_desktop.engines import answering
from sapo_desktop.engines import protocols as p
from tests.builders import as_prompts
from tests.engines.llama_cpp.cpp import (
    QUESTIONS,
    Pair,
    cancelled_after,
    needs_llama,
    quiet,
    request,
    tiny_folder,
    tokens,
    worst_gap,
)

pytestmark = needs_llama

CPUINFO = Path("/proc/cpuinfo")


@pytest.fixture(scope="module", params=["llama", "qwen2"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both engines, after one step, with the adapter passed on."""
    work = tmp_path_factory.mktemp(request.param)
    made = Pair(tiny_folder(work / "model", request.param), work, learning_rate=0.05, lora_rank=4)
    made.learn(made.ask_torch(_request(answers=8)))
    made.sync()
    yield made
    made.close()


_request = request


def both(pair: Pair, wanted: p.Generate) -> tuple[p.Generated, p.Generated]:
    return pair.ask_cpp(wanted), pair.ask_torch(wanted)


def test_it_says_what_was_loaded(pair: Pair) -> None:
    loaded = pair.load(exact=True)
    theirs = p.Generate(prompts=as_prompts(["a"]), answers=1, sampling=p.Sampling(max_tokens=1))
    assert (loaded.dtype, loaded.device, loaded.trainable, loaded.context) == ("all F32", "cpu", 0, 256)
    assert loaded.vocabulary == 272 and loaded.versions.keys() == {"llama-cpp-python"}
    assert pair.ask_cpp(theirs).batch == 1
    pair.sync()


@pytest.mark.skipif(not CPUINFO.exists(), reason="only Linux tells what the processor has in a file")
@pytest.mark.allowed_skip("other systems have the same library")
def test_it_computes_with_what_the_processor_has() -> None:
    """Our build has variants, of which the best one is loaded (installers/llama_build.cmake)."""
    library = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    said = library.llama_print_system_info().decode()
    has = set(CPUINFO.read_text().split())
    assert ("AVX2 = 1" in said) == ({"avx2", "fma", "f16c", "bmi2"} <= has)
    assert ("AVX512 = 1" in said) == ({"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"} <= has)


@pytest.mark.parametrize("base", [False, True])
def test_greedy_answers_are_those_of_transformers_token_by_token(pair: Pair, base: bool) -> None:
    ours, theirs = both(pair, request(answers=1, base=base, greedy=True))
    assert ours.prompt_tokens == theirs.prompt_tokens
    assert tokens(ours) == tokens(theirs)
    assert worst_gap(ours, theirs) < 1e-3


def test_the_adapter_makes_a_difference(pair: Pair) -> None:
    assert tokens(pair.ask_cpp(request(base=True))) != tokens(pair.ask_cpp(request()))


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.7}, {"temperature": 1.4}])
def test_sampled_answers_are_torchs_under_the_same_seed(pair: Pair, sampling: dict[str, Any]) -> None:
    ours, theirs = both(pair, request(**sampling))
    assert tokens(ours) == tokens(theirs)
    assert worst_gap(ours, theirs) < 1e-3
    assert [[one.text for one in row] for row in ours.completions] == [
        [one.text for one in row] for row in theirs.completions
    ]
    assert [[one.finish for one in row] for row in ours.completions] == [
        [one.finish for one in row] for row in theirs.completions
    ]


def test_end_of_sequence_is_kept_and_nothing_after_it(pair: Pair) -> None:
    made = [one for row in pair.ask_cpp(request(answers=32, temperature=2.0)).completions for one in row]
    ended = [one for one in made if one.finish == "stop"]
    assert ended and len(ended) < len(made)
    assert all(one.tokens[-1] == 257 and 257 not in one.tokens[:-1] for one in ended)
    assert all(len(one.tokens) == 24 for one in made if one.finish == "length")
    put = [one for one in made if one.finish == "closed"]
    assert all(one.tokens[-1] == 257 and len(one.logprobs) == len(one.tokens) - 1 for one in put)
    assert all(len(one.logprobs) == len(one.tokens) and "<eos>" not in one.text for one in made if one not in put)


def test_fewer_streams_than_sequences_give_the_same_answers(pair: Pair) -> None:
    """Refilled, closed up, read again: who shared a batch with whom changes nothing."""
    wanted = request(answers=16, temperature=1.5)
    at_once = pair.ask_cpp(wanted)
    assert at_once.batch == 64
    stream = 256 * 3 * 2 * 16 * 4  # positions, layers, key and value, two heads of eight, float32
    for streams in (1, 3, 9):
        pair.load(exact=True, cache_bytes=streams * stream)
        pair.sync()
        in_waves = pair.ask_cpp(wanted)
        assert in_waves.batch == streams
        assert tokens(in_waves) == tokens(at_once)
        assert worst_gap(in_waves, at_once) < 1e-3
    pair.load(exact=True)
    pair.sync()


def test_more_questions_than_streams_are_all_answered(pair: Pair) -> None:
    questions = [f"What is {number} and {number * 7}?" for number in range(150)]
    ours, theirs = both(pair, request(answers=1, questions=questions, max_tokens=6))
    assert ours.batch == 128
    assert tokens(ours) == tokens(theirs)


def test_a_prompt_longer_than_a_batch_is_read_in_parts(pair: Pair) -> None:
    questions = ["b" * 200, *["c" * 199] * 2, *[f"{number:03}" + "d" * 200 for number in range(12)]]
    ours, theirs = both(pair, request(answers=2, questions=questions, max_tokens=5))
    assert sum(map(len, ours.prompt_tokens)) > 2048
    assert tokens(ours) == tokens(theirs)


def test_a_prompt_that_fills_the_context_gets_no_answer(pair: Pair) -> None:
    ours, theirs = both(pair, request(answers=2, questions=["e" * 300, "f" * 250, "g"]))
    assert tokens(ours) == tokens(theirs)
    assert [len(one.tokens) for one in ours.completions[0]] == [0, 0]


def test_special_tokens_in_a_question_are_plain_text(pair: Pair) -> None:
    made = pair.ask_cpp(request(answers=1, questions=["say <eos> now"], max_tokens=1))
    assert made.prompt_tokens[0][0] == 258 and made.prompt_tokens[0][-1] == 259  # the template's own <q> and <a>
    assert not {256, 257, 258, 259} & set(made.prompt_tokens[0][1:-1])


def test_external_text_gives_the_torch_engines_tokens(pair: Pair) -> None:
    wanted = p.Encode(
        texts=["<answer>4</answer>", "a<eos>", "", "naïve 日本"], end=True, questions=as_prompts(QUESTIONS)
    )
    assert pair.ask_cpp(wanted) == pair.ask_torch(wanted)


def test_a_checkpoints_adapter_is_handed_over_without_touching_the_live_one(pair: Pair, tmp_path: Path) -> None:
    pair.ask_torch(p.Save(folder=str(tmp_path), averaged=False))
    kept = tokens(pair.ask_cpp(request()))
    pair.learn(pair.ask_torch(request(answers=8)))
    pair.sync()
    live = pair.ask_torch(request())
    assert tokens(pair.ask_cpp(request())) == tokens(live) != kept
    pair.sync(tmp_path)
    assert tokens(pair.ask_cpp(request())) == kept
    assert tokens(pair.ask_torch(request())) == tokens(live)
    pair.ask_cpp(p.UseAdapter(file=None))
    assert tokens(pair.ask_cpp(request())) == tokens(pair.ask_torch(request(base=True)))
    pair.ask_torch(p.Restore(folder=str(tmp_path)))
    pair.sync()


def test_a_cancel_ends_answering_within_a_second_and_leaves_the_generator_well(pair: Pair) -> None:
    long = request(answers=16, max_tokens=240, questions=QUESTIONS * 8)
    before = pair.ask_cpp(request())
    timer = cancelled_after(pair.cpp, 0.3)
    with pytest.raises(HostCancelled):
        pair.ask_cpp(long)
    seen = time.monotonic()
    timer.join()
    assert time.monotonic() - seen < 1  # it was the cancel, not the end
    pair.cpp.cancelled.clear()
    assert pair.ask_cpp(request()).completions == before.completions


def test_a_cancel_is_seen_inside_a_pass(pair: Pair) -> None:
    """What the loop checks between passes is not enough where a pass takes ten seconds."""
    engine = pair.cpp._engine
    assert engine is not None
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    pair.ask_cpp(request())
    streams = engine._streams
    assert streams is not None
    streams.clear()
    streams.should_stop = stop
    with pytest.raises(HostCancelled):
        streams.read([[5] * 100], [0])
    assert pair.ask_cpp(request()).batch == 16


def test_progress_counts_and_shows_an_answer(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "PROGRESS_SECONDS", 0.0)
    seen: list[p.GenerationProgress] = []
    made = pair.ask_cpp(
        request(answers=8, temperature=2.0),
        lambda m: seen.append(msgspec.convert(m, p.GenerationProgress, from_attributes=True)),
    )
    flat = [one for row in made.completions for one in row]
    assert seen and all(one.total == 32 and one.finished <= 32 for one in seen)
    assert seen[-1].tokens <= sum(len(one.tokens) for one in flat)
    ended = [one.ended for one in seen if one.ended is not None]
    assert ended and all(flat[one.place].text == one.text for one in ended)


def test_a_single_answer_is_reported_piece_by_piece(pair: Pair) -> None:
    pieces: list[str] = []

    def names(message: msgspec.Struct) -> None:
        if isinstance(message, p.TokenText):
            pieces.append(message.text)

    made = pair.ask_cpp(request(answers=1, questions=["a"], greedy=True), names)
    text = made.completions[0][0].text
    assert pieces and text.startswith("".join(pieces)), "halves of characters wait for the other half"


def test_out_of_memory_halves_the_streams_and_goes_on(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    from sapo_desktop.engines.llama_cpp import service

    pair.load(exact=True)
    pair.sync()
    expected = pair.ask_cpp(request(answers=8))
    pair.load(exact=True)
    pair.sync()
    real = service.Streams

    def small(model: Any, count: int, length: int, exact: bool) -> Any:
        if count > most:
            raise MemoryError("no room")
        return real(model, count, length, exact)

    monkeypatch.setattr(service, "Streams", small)
    most = 10
    made = pair.ask_cpp(request(answers=8))
    assert made.batch == 8 and tokens(made) == tokens(expected)
    pair.load(exact=True)
    most = 0
    with pytest.raises(OutOfMemory, match="single answer"):
        pair.ask_cpp(request())
    monkeypatch.undo()
    pair.load(exact=True)
    pair.sync()


def test_it_refuses_work_before_a_model() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    from sapo_desktop.engines.llama_cpp.service import create

    with pytest.raises(HostError, match="before a model"):
        create().handle(request(), quiet)


DAMAGE = {
    "not a GGUF file": lambda raw: b"PK\x03\x04" + raw[4:],
    "the file again": lambda raw: raw[: len(raw) // 2],
    "cannot be loaded": lambda raw: raw[:40],
    "llama.cpp says": lambda raw: raw[:4] + b"\xff\xff\xff\xff" + raw[8:],
    "Download the file again": lambda raw: raw.replace(b"llama.block_count", b"llama.blick_count").replace(
        b"qwen2.block_count", b"qwen2.blick_count"
    ),
}


@pytest.mark.parametrize("reason", DAMAGE)
def test_a_damaged_file_is_refused_with_a_sentence(pair: Pair, tmp_path: Path, reason: str) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(DAMAGE[reason](pair.gguf.read_bytes()))
    with pytest.raises(ModelError, match=reason):
        pair.load(path)
    with pytest.raises(ModelError, match="cannot be read"):
        pair.load(tmp_path / "missing.gguf")
    pair.load(exact=True)
    pair.sync()


def test_an_adapter_of_another_model_is_refused_and_the_old_one_stays(pair: Pair, tmp_path: Path) -> None:
    expected = tokens(pair.ask_cpp(request()))
    with pytest.raises(ModelError, match="does not fit"):
        pair.ask_cpp(p.UseAdapter(file=str(pair.gguf)))
    assert tokens(pair.ask_cpp(request())) == expected


def test_weights_that_are_not_numbers_are_refused(pair: Pair, tmp_path: Path) -> None:
    raw = bytearray(pair.gguf.read_bytes())
    raw[-4:] = b"\xff\xff\xff\xff"  # a NaN at the end of the last tensor
    path = tmp_path / "nan.gguf"
    path.write_bytes(raw)
    with pytest.raises(ModelError, match="Download the file again"):
        pair.load(path)
    pair.load(exact=True)
    pair.sync()


@pytest.mark.parametrize("weights", ["f32", "q4_0"])
@pytest.mark.allowed_skip("/proc lists a process's mappings on Linux only")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc lists a process's mappings on Linux only")
def test_weights_are_held_once(pair: Pair, tmp_path: Path, weights: str) -> None:
    """What llama.cpp repacks, 4-bit weights among others, it would hold in addition to the file's pages."""
    file = pair.gguf
    if weights != "f32":
        file = tmp_path / "small.gguf"
        pair.ask_cpp(p.Quantise(source=str(pair.gguf), target=str(file), weights=weights, threads=1))
    pair.load(file)
    assert str(file) not in Path("/proc/self/maps").read_text()
    pair.load(exact=True)
    pair.sync()


@pytest.mark.parametrize(
    "words",
    [
        "unable to allocate CPU_REPACK buffer",
        "alloc_tensor_range: failed to allocate CPU buffer of size 625508352",
        "error loading model: std::bad_alloc",
    ],
)
def test_what_does_not_fit_is_not_asked_for_again(pair: Pair, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    from sapo_desktop.engines.llama_cpp import model

    def refuse(*_: Any) -> None:
        model._said.append(words)

    monkeypatch.setattr(model.c, "llama_model_load_from_file", refuse)
    with pytest.raises(TooBig, match="does not fit into the free memory"):
        pair.load(exact=True)
    monkeypatch.undo()
    pair.load(exact=True)
    pair.sync()


def test_on_windows_a_persons_name_in_the_path_does_not_matter(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp opens what it writes in the system's code page there, so it gets a bare name."""
    from sapo_desktop.engines.llama_cpp import service

    names: list[bytes] = []
    write = service.c.llama_model_quantize

    def writing(source: bytes, target: bytes, settings: Any) -> int:
        names.append(target)
        return int(write(source, target, settings))

    monkeypatch.setattr(service.c, "llama_model_quantize", writing)
    monkeypatch.setattr(sys, "platform", "win32")
    folder, before = tmp_path / "Zoë Đỗ", Path.cwd()
    folder.mkdir()
    service.quantise(pair.gguf, folder / "q.gguf", "q4_0", threads=1)
    assert names == [b"q.gguf.part"] and Path.cwd() == before
    assert [path.name for path in folder.iterdir()] == ["q.gguf"]


def test_threads_and_quantised_files(pair: Pair, tmp_path: Path) -> None:
    pair.ask_cpp(p.Configure(threads=2))
    expected = tokens(pair.ask_cpp(request()))
    pair.ask_cpp(p.Configure(threads=1))
    assert tokens(pair.ask_cpp(request())) == expected
    with pytest.raises(ModelError, match="q8_0, q4_0, q4_k_m"):
        pair.ask_cpp(p.Quantise(source=str(pair.gguf), target=str(tmp_path / "q"), weights="q3", threads=1))
    with pytest.raises(ModelError, match="could not be quantised"):
        pair.ask_cpp(p.Quantise(source=str(tmp_path), target=str(tmp_path / "q"), weights="q8_0", threads=1))
    assert list(tmp_path.iterdir()) == []
