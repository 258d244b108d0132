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
        ("ERROR: ResolutionImpossible: for help visit", trouble.CONFLICT),
        ("urlopen error [SSL: CERTIFICATE_VERIFY_FAILED]\nNo matching distribution", trouble.NO_TRUST),
        ("invalid peer certificate: UnknownIssuer", trouble.NO_TRUST),
        ("OSError('Tunnel connection failed: 407 Proxy Authentication Required'))", trouble.REFUSED),
        ("ERROR: HTTP error 403 while getting x\n403 Client Error: Forbidden for url: https://a/b", trouble.REFUSED),
        ("NameResolutionError(...)\nNo matching distribution found for numpy", trouble.NO_NETWORK),
        ("OSError: [Errno 122] Disk quota exceeded", trouble.DISK_FULL),
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


@pytest.mark.parametrize(
    ("output", "proxies", "named"),
    [
        ("ERROR: No matching distribution found for numpy==2.4.6", {}, "Missing: numpy==2.4.6."),
        ("The user requested (constraint) numpy<2\nERROR: ResolutionImpossible", {}, "The constraint: numpy<2."),
        ("Connection refused", {"https": "http://me:secret@proxy.example:3128"}, "A proxy is set: proxy.example:3128."),
        ("403 Client Error: Forbidden for url: https://me:secret@a.example/b", {}, "Refused by: a.example."),
        ("WARNING: [Errno 30] Read-only file system: '/home/a/.cache'", {}, "Not writable: /home/a/.cache."),
        ("DO NOT MATCH THE HASHES", {"https": "http://proxy.example:3128"}, ""),
    ],
)
def test_the_cause_is_named_and_no_secret_with_it(output: str, proxies: dict[str, str], named: str) -> None:
    cause = explain(output)
    assert cause is not None and trouble.details(cause, output, proxies).strip() == named
