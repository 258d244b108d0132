from pathlib import Path

import pytest

from installers import trouble
from installers.trouble import CommandFailed, explain


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", trouble.DISK_FULL),
        ("NewConnectionError(...)\nERROR: No matching distribution found for numpy", trouble.NO_NETWORK),
        ("error: Failed to fetch\n  Caused by: dns error", trouble.NO_NETWORK),
        ("ERROR: No matching distribution found for torch==2.13.0+cpu", trouble.NOT_FOUND),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", trouble.CHANGED),
        ("OSError: [Errno 30] Read-only file system: '/x'", trouble.READ_ONLY),
        ("error: command 'gcc' failed: No such file or directory", trouble.NO_COMPILER),
        ("something nobody has seen", None),
    ],
)
def test_what_a_tool_says_becomes_a_sentence_that_helps(output: str, sentence: str | None) -> None:
    assert explain(output) == sentence


def test_an_unknown_failure_shows_the_last_words_and_the_log() -> None:
    error = CommandFailed("Step 2 of 3", "one\n\ntwo\n", Path("setup.log"))
    assert "one\n  two" in str(error) and "setup.log" in str(error)
