"""The data in docs/data follow its schema, and name existing code."""

import json
import subprocess
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.lab.folder import Manifest
from sapo_desktop.worker.control.messages.rollouts import Rollout
from tests.builders import rollout

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data"
MOST_OF_A_DOUBLE = 2**53


def test_the_schema_is_that_of_the_records(scripts: None) -> None:
    from schema import FILE, schema

    assert FILE.read_text(encoding="utf-8") == schema()


def test_a_seed_survives_a_reader_of_doubles() -> None:
    line = msgspec.json.encode(rollout(seed=str(2**63 - 2)))
    read = json.loads(line, parse_int=float)
    assert int(read["seed"]) == 2**63 - 2
    assert msgspec.json.decode(line, type=Rollout).seed == str(2**63 - 2)


@pytest.mark.parametrize("file", sorted(DATA.glob("*.json*")), ids=lambda path: path.name)
def test_no_recorded_number_is_too_large_for_a_double(file: Path) -> None:
    def whole(digits: str) -> int:
        assert abs(int(digits)) <= MOST_OF_A_DOUBLE
        return int(digits)

    text = file.read_text(encoding="utf-8")
    for part in text.splitlines() if file.suffix == ".jsonl" else [text]:
        json.loads(part, parse_int=whole)


def test_arms_were_played_by_commits_of_this_history() -> None:
    asked = ["git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"]
    if subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() != "false":
        return  # an archive or a shallow clone has no history to compare with
    unknown = []
    for file in (DATA / "lab").glob("*/*/manifest.json"):
        commit = msgspec.json.decode(file.read_bytes(), type=Manifest).commit.rstrip("+")
        asked = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", commit or "none", "HEAD"]
        if subprocess.run(asked, capture_output=True, check=False).returncode:
            unknown.append(file)
    assert not unknown
