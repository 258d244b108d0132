"""Commands to paste: each word stays one word, with any content."""

import os
import shlex
import subprocess

import pytest

from sapo_desktop.core.sentences import quoted, sentence

HOSTILE = [
    "sapo://swarm=ab';touch pwned;'",
    "my folder",
    "$(touch pwned)",
    "`touch pwned`",
    'a"b',
    "a\\b",
    "!!",
    "-rf",
    "",
    "ä;b",
    "line\nbreak",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_shell_reads_one_word(word: str) -> None:
    assert shlex.split(f"command {quoted(word)}") == ["command", word]


@pytest.mark.skipif(os.name == "nt", reason="asks a POSIX shell")
@pytest.mark.parametrize("word", HOSTILE)
def test_a_command_of_a_sentence_is_safe_to_paste(word: str) -> None:
    said = sentence("There is no {name}.", in_terminal="printf %s {name}", name=word)
    words, _, command = str(said).partition(" In a terminal: ")
    assert words == f"There is no {word}."
    assert subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout == word


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("C:\\data\\node-1", "C:\\data\\node-1"),
        ("C:\\my data", '"C:\\my data"'),
        ("a';calc;'", "\"a';calc;'\""),
        ("$(calc)'", "'$(calc)'''"),
        ('a"&calc', "'a\"&calc'"),
        ("", '""'),
    ],
)
def test_the_shells_of_windows_read_one_word_too(monkeypatch: pytest.MonkeyPatch, word: str, typed: str) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert quoted(word) == typed
