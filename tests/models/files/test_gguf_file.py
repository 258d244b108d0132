"""GGUF files are checked to the byte."""

import contextlib
import struct
import tracemalloc
from pathlib import Path

import gguf as library
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.models.files.gguf_file import check_gguf, read_gguf
from sapo_desktop.models.fit.shape import ModelShape
from tests.models.small_models import gguf


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def write(writer: library.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_good_file_is_described(file: Path) -> None:
    file.write_bytes(gguf())
    found = check_gguf([file])
    assert (found.architecture, found.bytes) == ("llama", file.stat().st_size)


def test_the_libraries_own_file_is_a_good_one(file: Path) -> None:
    writer = library.GGUFWriter(file, "qwen2")
    writer.add_context_length(512)
    writer.add_token_list(["a", "b"])
    writer.add_array("scores", [0.5, 0.25])
    writer.add_tensor("odd", np.zeros((3, 5), dtype=np.float32))
    writer.add_tensor("half", np.zeros((7,), dtype=np.float16))
    write(writer)
    assert read_gguf(file).context == 512


def test_what_an_engine_has_to_know_is_reported(file: Path) -> None:
    writer = library.GGUFWriter(file, "smollm3")
    writer.add_context_length(65536)
    writer.add_block_count(2)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_feed_forward_length(96)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smaug-bpe")
    writer.add_token_list(["a", "b", "c"])
    writer.add_tensor("one", np.zeros((32,), dtype=np.float32))
    write(writer)
    found = check_gguf([file])
    assert (found.architecture, found.context) == ("smollm3", 65536)
    assert found.shape == ModelShape(layers=2, hidden=64, heads=4, kv_heads=2, head=16, ffn=96, vocabulary=3, tied=True)
    assert not found.only_answers


@pytest.mark.parametrize(
    ("entries", "what"),
    [
        ({"general.architecture": "gemma3"}, "a model of the kind 'gemma3'"),
        ({"general.architecture": "qwen2vl"}, "a model that sees images"),
        ({"general.architecture": "clip"}, "a model that sees images"),
        ({"general.architecture": "qwen3vlmoe"}, "a model that sees images"),
        ({"general.architecture": "qwen3moe"}, "a mixture of experts"),
        ({"llama.expert_count": 8}, "a mixture of experts"),
        ({"llama.attention.sliding_window": 4096}, "attention.sliding_window"),
        ({"tokenizer.ggml.model": "bert"}, "tokenizer of the kind 'bert'"),
        ({"tokenizer.ggml.pre": "tekken"}, "splits words like 'tekken'"),
        ({}, "shape"),
    ],
)
def test_a_kind_that_cannot_learn_is_named_in_one_sentence(file: Path, entries: dict[str, object], what: str) -> None:
    file.write_bytes(gguf(entries))
    said = str(check_gguf([file]).only_answers)
    assert said.startswith("model.gguf ") and what in said and "can answer but not learn" in said


def test_a_file_without_a_tokenizer_is_refused(file: Path) -> None:
    write_one_tensor(file, "llama")
    with pytest.raises(ModelError, match="has no tokenizer"):
        check_gguf([file])


def write_one_tensor(path: Path, architecture: str, endianess: library.GGUFEndian = library.GGUFEndian.LITTLE) -> None:
    writer = library.GGUFWriter(path, architecture, endianess=endianess)
    writer.add_tensor("one", np.zeros((32,), dtype=np.float32))
    write(writer)


def test_a_file_of_a_big_endian_computer_is_named_as_that(file: Path) -> None:
    write_one_tensor(file, "llama", library.GGUFEndian.BIG)
    with pytest.raises(ModelError, match="big-endian"):
        read_gguf(file)


def test_a_file_that_says_less_is_no_worse(file: Path) -> None:
    file.write_bytes(gguf())
    found = check_gguf([file])
    assert (found.context, found.shape) == (0, None)


def write_table(path: Path, kind: str, rows: int, *, head: bool = False) -> None:
    """A file whose table of tokens has rows of 256 numbers; `head`: with an output matrix of its own."""
    number = library.GGMLQuantizationType[kind]
    block, size = library.GGML_QUANT_SIZES[number]
    writer = library.GGUFWriter(path, "llama")
    for key, count in (("context_length", 512), ("block_count", 1), ("embedding_length", 256)):
        writer.add_uint32(f"llama.{key}", count)
    writer.add_uint32("llama.attention.head_count", 4)
    writer.add_uint32("llama.feed_forward_length", 512)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a"] * rows)
    for name in ("token_embd.weight", "output.weight")[: 1 + head]:
        writer.add_tensor(name, np.zeros((rows, 256 // block * size), dtype=np.uint8), raw_dtype=number)
    write(writer)


@pytest.mark.parametrize(
    ("kind", "rows", "twice"),
    [
        ("Q4_0", 64, 64 * 256 // 32 * 18),
        ("IQ4_NL", 64, 64 * 256 // 32 * 18),
        ("Q4_K", 64, 64 * 144),
        ("Q4_K", 63, 0),  # eight rows are packed together
        ("Q6_K", 64, 0),
        ("Q8_0", 64, 0),
        ("F16", 64, 0),
    ],
)
def test_a_repacked_head_that_is_the_table_is_held_twice(file: Path, kind: str, rows: int, twice: int) -> None:
    write_table(file, kind, rows)
    assert check_gguf([file]).held_twice == twice
    write_table(file, kind, rows, head=True)
    assert check_gguf([file]).held_twice == 0


@pytest.mark.parametrize("lost", [1, 33, 1000, 5000])
def test_a_file_that_is_cut_short_is_refused(file: Path, lost: int) -> None:
    content = gguf()
    file.write_bytes(content[: len(content) - lost])
    with pytest.raises(ModelError, match=r"should have|cut short"):
        read_gguf(file)


def test_a_file_with_more_than_its_tensors_is_refused(file: Path) -> None:
    file.write_bytes(gguf() + b"x" * 64)
    with pytest.raises(ModelError, match="should have"):
        read_gguf(file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "incomplete or damaged"),
        (b"PK\x03\x04" + b"\0" * 100, "not a GGUF file"),
        (gguf(version=1), "version 1"),
        (gguf(version=3 << 16), "version 196608"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 1), "damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 2**62), "incomplete or damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "no tensors"),
        (gguf({"general.architecture": "../x y"}), "what kind of model"),
        (gguf({"general.type": "adapter"}), "of the kind 'adapter'"),
        (gguf({"general.alignment": 3}), "aligns"),
        (gguf().replace(struct.pack("<IQQI", 2, 32, 64, 8), struct.pack("<IQQI", 2, 32, 64, 99)), "type 99"),
        (gguf().replace(struct.pack("<IQQI", 2, 32, 64, 8), struct.pack("<IQQI", 2, 31, 64, 8)), "shape"),
        (gguf().replace(struct.pack("<IQQI", 2, 32, 64, 8), struct.pack("<IQQI", 2, 64, 64, 8)), "should have"),
        (gguf().replace(struct.pack("<IQQIQ", 2, 32, 64, 8, 8192), struct.pack("<IQQIQ", 2, 32, 64, 8, 0)), "follow"),
    ],
)
def test_a_damaged_file_is_refused(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ModelError, match=said):
        read_gguf(file)


@given(st.data())
def test_all_damage_ends_in_a_sentence(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(gguf(rows=1))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 400))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        read_gguf(path)
    except ModelError as error:
        assert str(path) in str(error)


@given(st.data())
def test_no_damage_to_a_part_does_either(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    paths = parts(tmp_path_factory.mktemp("parts"), 2, [0, 1])
    for path in paths:
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(0, 3))):
            content[data.draw(st.integers(0, 400))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
    if data.draw(st.booleans()):
        paths[1].unlink()
    with contextlib.suppress(ModelError):
        assert check_gguf(paths).parts == 2


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_any_count_of_parts_is_checked(tmp_path_factory: pytest.TempPathFactory, number: int, count: int) -> None:
    path = tmp_path_factory.mktemp("split") / "model.gguf"
    path.write_bytes(gguf({"split.no": number, "split.count": count}, rows=1))
    with contextlib.suppress(ModelError):
        assert (check_gguf([path]).part, count in (0, 1)) == (0, True)


def parts(folder: Path, count: int, numbers: list[int]) -> list[Path]:
    made = []
    for number in numbers:
        path = folder / f"model-{number + 1:05d}-of-{count:05d}.gguf"
        path.write_bytes(gguf({"split.no": number, "split.count": count}))
        made.append(path)
    return made


def test_a_model_in_parts_needs_all_of_them(tmp_path: Path) -> None:
    files = parts(tmp_path, 3, [0, 1, 2])
    assert check_gguf(files).bytes == 3 * files[0].stat().st_size
    assert parts_of(files[1]) == files
    for some in ([files[0]], files[:2], files[1:]):
        with pytest.raises(ModelError, match="Get all of them"):
            check_gguf(some)


@pytest.mark.parametrize("name", ["x-00001-of-00000.gguf", "x-00000-of-00002.gguf", "x-00003-of-00002.gguf", "x.gguf"])
def test_a_name_that_is_of_no_part_is_that_of_one_file(name: str) -> None:
    assert parts_of(Path(name)) == [Path(name)]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    first, second = parts(tmp_path, 2, [0, 1])
    second.unlink()
    with pytest.raises(ModelError, match=r"model-00002-of-00002.gguf cannot be read"):
        check_gguf(parts_of(first))
    with pytest.raises(ModelError, match="cannot be read"):
        read_gguf(tmp_path)
    with pytest.raises(ModelError, match="no GGUF file"):
        check_gguf([])


def long_texts(path: Path, count: int, key: bytes = b"k") -> None:
    """A file whose entries are texts of 16 MB each; it takes no room, being mostly holes."""
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 2, count))
        for _ in range(count):
            file.write(struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, 16_000_000))
            file.seek(16_000_000, 1)
        file.write(b"\0" * 100)


def test_long_texts_fill_no_memory(file: Path) -> None:
    long_texts(file, 12)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError):
            read_gguf(file)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_header_without_end_is_not_read_to_the_end(file: Path) -> None:
    long_texts(file, 100)
    with pytest.raises(ModelError, match=r"its description is longer than any model"):
        read_gguf(file)


def test_a_list_of_countless_texts_is_refused(file: Path) -> None:
    content = b"GGUF" + struct.pack("<IQQQ", 3, 2, 1, 1) + b"k" + struct.pack("<IIQ", 9, 8, 9_000_000)
    with file.open("wb") as stream:
        stream.write(content)
        stream.truncate(100_000_000)
    with pytest.raises(ModelError, match="is incomplete or damaged"):
        read_gguf(file)
