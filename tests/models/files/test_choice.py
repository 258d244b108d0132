"""Which files of a repository belong to a model, and which names a folder may contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import ModelError, UsageError
from sapo_desktop.core.models import spec_of
from sapo_desktop.models.files.choice import choose, kind_of_files
from sapo_desktop.models.files.names import check, is_plain, kind_of

REPOSITORY = [
    *("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("merges.txt", "vocab.json", "chat_template.jinja", "LICENSE", "README.md", "USE_POLICY.md", "LICENSE-apache.txt"),
    *("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"),
]
OTHERS = [
    *(".gitattributes", "pytorch_model.bin", "original/model.safetensors", "onnx/model.onnx", "modeling_x.py"),
    *("training_args.bin", "eval.json", "figure.png", "tf_model.h5", "trainer_state.json", "README.md.exe"),
]


def listed(*names: str) -> list[str]:
    return list(names)


def test_a_transformers_model_is_its_weights_tokenizer_and_papers() -> None:
    chosen = choose("o/n", listed(*REPOSITORY, *OTHERS))
    assert sorted(chosen) == sorted(REPOSITORY)


def test_safetensors_go_before_gguf_unless_a_quantisation_is_named() -> None:
    files = listed("config.json", "model.safetensors", "m-q8_0.gguf", "m.Q4_K_M.gguf", "LICENSE")
    assert choose("o/n", files) == ["LICENSE", "config.json", "model.safetensors"]
    assert choose("o/n", files, quantisation="q4_k_m") == ["LICENSE", "m.Q4_K_M.gguf"]
    with pytest.raises(ModelError, match="no weights"):
        choose("o/n", files, quantisation="Q2_K")


def test_all_parts_of_one_quantisation_belong_together() -> None:
    parts = [f"m-q8_0-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    assert choose("o/n", listed(*parts)) == parts
    with pytest.raises(ModelError, match="--file"):
        choose("o/n", listed(*parts, "m-q4_0.gguf"))


def test_files_make_one_layout_or_none() -> None:
    assert kind_of_files(["a.gguf", "README.md"]) == "gguf"
    assert kind_of_files(["model.safetensors", "config.json"]) == "transformers"
    for names, said in (
        (["config.json"], "contain no weights"),
        (["a.gguf", "b.safetensors"], "safetensors and in GGUF"),
    ):
        with pytest.raises(ModelError, match=said):
            kind_of_files(names)


@given(st.text(max_size=40))
def test_a_plain_name_stays_where_it_is_put(name: str) -> None:
    if is_plain(name):
        assert not set(name) & set('/\\:*?"<>|\0') and name not in (".", "..") and not name.startswith((".", "-"))
        assert name == name.strip() and name.isascii()


@pytest.mark.parametrize(
    "name", ["x.bin", "x.pt", "x.pkl", "x.py", "x.exe", "x", "x.txt", "LICENSE.bin", "README.md.exe"]
)
def test_kinds_that_are_not_taken(name: str) -> None:
    assert kind_of(name) is None
    with pytest.raises(ModelError, match="is refused"):
        check(name)


@pytest.mark.parametrize(
    ("reference", "name", "revision"),
    [("o/n", "o--n", "main"), ("o/n@v1.0", "o--n@v1.0", "v1.0"), ("o/n@refs/pr/1", "o--n@refs-pr-1", "refs/pr/1")],
)
def test_a_reference_names_repository_revision_and_folder(reference: str, name: str, revision: str) -> None:
    spec = spec_of(reference)
    assert (spec.repository, spec.revision, spec.name) == ("o/n", revision, name)
    assert spec_of(reference, ["m-q8_0.gguf"]).name == f"{name}--m-q8_0"


@pytest.mark.parametrize("reference", ["o", "o/", "/n", "o/n/x", "../n", "o/n@", "o n/x", "https://hub.example/o/n"])
def test_what_is_no_reference_is_said(reference: str) -> None:
    with pytest.raises(UsageError, match="OWNER/NAME"):
        spec_of(reference)


def test_a_part_that_is_named_brings_the_others_or_is_refused() -> None:
    parts = [f"m-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    files = listed(*parts, "m-q4_0.gguf", "README.md")
    assert list(choose("o/n", files, [parts[1]])) == parts
    assert list(choose("o/n", files, ["README.md", *parts, parts[0]])) == ["README.md", *parts]
    for named in ([parts[0]], []):
        with pytest.raises(ModelError, match=r"m-0000\d-of-00003.gguf is one of 3 files.*no m-00002-of-00003.gguf"):
            choose("o/n", listed(parts[0], parts[2]), named)
    with pytest.raises(ModelError, match=r"no file m-00002-of-00003.gguf"):
        choose("o/n", listed(parts[0], parts[2]), [parts[1]])
