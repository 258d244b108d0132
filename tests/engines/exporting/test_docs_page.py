"""The code in docs/exporting.md runs unchanged."""

import re
from pathlib import Path

import pytest

from sapo_desktop.engines.exporting.export import export
from tests.engines.export_models import adapted, save_base, starter_like_tokenizer, tiny_model

PAGE = Path(__file__).resolve().parents[3] / "docs" / "exporting.md"
BLOCKS = re.findall(r"^## (\w+):.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders that the page's commands make, of a tiny random model in place of the starter."""
    tokenizer = starter_like_tokenizer()
    base = save_base(tiny_model("llama", 272), tokenizer, tmp_path / "resources" / "starter")
    model = adapted(tiny_model("llama", 272))
    for format, folder in (("peft", "my-adapter"), ("merged", "my-model"), ("gguf", "my-gguf")):
        export(format, model, tokenizer, base, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_the_code_of_the_page_runs(exported: Path, title: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "llama_cpp" in code:
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    exec(compile(code, f"{PAGE.name} ({title})", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_page_shows_every_format() -> None:
    assert [title for title, _ in BLOCKS] == ["Adapter", "Merged", "GGUF"]
