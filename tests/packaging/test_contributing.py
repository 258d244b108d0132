"""Commit hooks and the repository's forms for issues and pull requests."""

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


def hook(name: str) -> list[str]:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (entry,) = (one["entry"] for repository in config["repos"] for one in repository["hooks"] if one["id"] == name)
    return str(entry).split()


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("format", "a = {  'b':1 }\n", 'a = {"b": 1}\n'),
        ("lint", "import os\n", ""),
        ("lint", "a = undefined\n", "a = undefined\n"),
    ],
)
def test_a_hook_corrects_a_file_or_refuses_it(tmp_path: Path, name: str, text: str, after: str) -> None:
    file = tmp_path / "some.py"
    file.write_text(text)
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run([*hook(name), *options, str(file)], cwd=ROOT, capture_output=True, text=True)
    assert file.read_text() == after
    assert (done.returncode == 0) == (name == "format")  # pre-commit itself refuses what a hook changed


@pytest.mark.parametrize("form", FORMS, ids=[form.stem for form in FORMS])
def test_a_form_asks_for_what_github_can_show(form: Path) -> None:
    """The rules of GitHub's issue forms: unique ids, and a label for each question."""
    said = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert said["name"] and said["description"]
    asked = [part for part in said["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in asked} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({part["id"] for part in asked}) == len(asked) > 0
    assert all(part["attributes"]["label"] for part in asked)


def test_workflows_are_written_for_an_event() -> None:
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        said = yaml.safe_load(workflow.read_text(encoding="utf-8"))
        assert said[True] and all(
            job["runs-on"] and job["steps"] for job in said["jobs"].values()
        )  # `on` is YAML's true
