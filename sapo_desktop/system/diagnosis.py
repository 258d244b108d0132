"""A file for a bug report: checks, facts, settings and the end of the log, without private data.

Removed or replaced: names of user, computer and folders, addresses, keys, tokens, and every setting typed as text. This
is a filter without guarantee, so the file asks its reader to look through it before passing it on.
"""

from __future__ import annotations

import getpass
import ipaddress
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import Check
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.secrets.kept_secrets import hub_token, remote_key, server_key

LOG_LINES, NOTICES = 200, 50
"""How many of the newest are in a report."""
_SHORTEST_NAME = 3
"""Shorter names would match inside other words."""
_NOBODYS = {"root", "user", "admin", "administrator", "localhost"}
"""Names that identify nobody and are ordinary words."""
_PLAIN_TEXTS = {"tasks", "model"}
"""Text settings that contain nothing private; for a path, only that it is one."""
_BETWEEN_PARTS = re.compile(r"[\s,;/\\:@?&=]+")
_COMMON_PARTS = {
    *("home", "users", "data", "models", "mnt", "media", "opt", "usr", "var", "srv", "tmp"),
    *("http", "https", "wss", "localhost", "127.0.0.1", "0.0.0.0"),
}
"""Parts of paths and addresses that identify nobody."""
_KEYS = [*settings_file.known_keys(), *settings_file.keys_of("kept")]
_SECRETS = ("SAPO_PASSPHRASE", hub_token.variable, remote_key.variable, server_key.variable)
"""Variables of the environment."""
_ADVICE = "Private data was removed by rules. Look through this file before you share it."
_PATTERNS = (
    (re.compile(r"\bsapo://\S+"), "<invite>"),
    (re.compile(r"\b([a-z][a-z0-9+.-]*://)[^\s\"'<>]+"), r"\1<address>"),
    (re.compile(r"\b(?:hf_|sk-)[\w-]{8,}"), "<token>"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "<address>"),
    (re.compile(r"\b[0-9a-fA-F]{16,}\b"), "<key>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "<address>"),
    (re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}:\d{1,5}\b"), "<address>"),
)
_MAYBE_IPV6 = re.compile(r"\[?[0-9A-Fa-f]*:[0-9A-Fa-f:.]+(?:%\w+)?\]?(?::\d{1,5}\b)?")


def save_report(path: Path, text: str) -> None:
    """Write the file. Raises SapoError if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SapoError(
            "{path} could not be written: {reason}. Choose another file.",
            path=str(path),
            reason=str(error.strerror or error),
        ) from error


def report(
    checks: Sequence[Check],
    facts: Mapping[str, str],
    settings: Settings | None,
    log: Sequence[str],
    private: Mapping[str, str],
    made: datetime | None = None,
    *,
    said: Sequence[str] = (),
) -> str:
    """The whole filtered text. `private`: see `private_words`. `made`: when, default now. `said`: the node's
    messages to people, which include every crash and its cause."""
    made = made or datetime.now().astimezone()
    lines = [*(line for check in checks for line in check_lines(check)), ""]
    lines += [f"{name}: {value}" for name, value in facts.items()]
    if settings is not None:
        lines += ["", "Settings", *(f"{key} = {value}" for key, value in shown_settings(settings).items())]
    if said:
        lines += ["", "Notices", *said]
    if log:
        lines += ["", "Log", *log[-LOG_LINES:]]
    typed = typed_words(settings) if settings is not None else {}
    scrubbed = scrub("\n".join(lines), {**typed, **private})
    return f"SAPO Desktop report, {made.isoformat(timespec='seconds')}\n{_ADVICE}\n\n{scrubbed}\n"


def check_lines(check: Check) -> list[str]:
    """A check in one line, and its advice in another."""
    lines = [f"{check.state:<9}{check.name:<15}{check.found}"]
    return [*lines, f"{'':<9}{'to do:':<15}{check.advice}"] if check.advice else lines


def shown_settings(settings: Settings) -> dict[str, str]:
    """Every setting; for those typed as text, only whether they are set."""
    return {key: _shown(key, getattr(settings, key)) for key in _KEYS}


def scrub(text: str, private: Mapping[str, str]) -> str:
    """The text with private words, addresses, keys and tokens replaced."""
    # Folders first, as their parts may match other patterns; names last, as an address may contain one.
    folders = {word: shown for word, shown in private.items() if {"/", "\\"} & set(word)}
    # As Python and JSON write them.
    folders |= {word.replace("\\", "\\\\"): shown for word, shown in folders.items()}
    text = _without(folders, text)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    text = _MAYBE_IPV6.sub(_without_ipv6, text)
    return _without({word: shown for word, shown in private.items() if word not in folders}, text)


def private_words(folder: Path) -> dict[str, str]:
    """What identifies this user and computer and the secrets in this process, with a replacement for each. `folder`:
    the data folder."""
    words = {str(folder): "<data folder>", str(Path.home()): "~"}
    words |= {secret: "<secret>" for name in _SECRETS if (secret := os.environ.get(name, ""))}
    host = platform.node()
    for name, shown in ((_user(), "<user>"), (host, "<computer>"), (host.partition(".")[0], "<computer>")):
        if len(name) >= _SHORTEST_NAME and name.lower() not in _NOBODYS:
            words.setdefault(name, shown)
    return {word: shown for word, shown in words.items() if len(word) >= _SHORTEST_NAME}


def typed_words(settings: Settings) -> dict[str, str]:
    """Text settings and their parts, with replacements; the log may contain them."""
    words: dict[str, str] = {}
    for key in _KEYS:
        described, value = settings_file.describe(key), getattr(settings, key)
        if not described.text or value == described.default or _shown(key, value) == str(value):
            continue
        parts = [
            part
            for part in _BETWEEN_PARTS.split(str(value))
            if part.lower() not in _COMMON_PARTS and not part.isdigit()
        ]
        if "://" not in str(value):  # for addresses, the patterns keep more
            parts.append(str(value))
        words |= {word: f"<{key}>" for word in parts if len(word) >= _SHORTEST_NAME}
    return words


def _shown(key: str, value: bool | int | float | str) -> str:
    if not settings_file.describe(key).text:
        return str(value)
    if key in _PLAIN_TEXTS and not {"/", "\\"} & set(str(value)):
        return str(value)
    return "(set)" if value else "(empty)"


def _without(words: Mapping[str, str], text: str) -> str:
    """Replace the longest words first, each only as a whole word."""
    for word in sorted(words, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", words[word], text)
    return text


def _without_ipv6(found: re.Match[str]) -> str:
    """Times and other numbers with colons are not addresses."""
    text = found[0]
    inside = text[1:].partition("]")[0] if text.startswith("[") else text.rstrip(":.")
    try:
        ipaddress.IPv6Address(inside)
    except ValueError:
        return text
    return "<address>"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user without a name
        return ""
