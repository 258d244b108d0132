"""Text from models and peers, made safe to print.

It may contain terminal escapes, control characters, or bidi marks that reorder what is read. Everything shown passes
through here. Unsafe characters are dropped, not escaped, so that the rest reads as plain text. JSON lines do not pass
through here: they are ASCII-escaped, which is safe and loses nothing.
"""

from __future__ import annotations

import re
import unicodedata

# ECMA-48: CSI sequences; OSC, DCS, SOS, PM and APC strings up to their end (or the line's); two-byte escapes.
_ESCAPE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_DROPPED = {"Cc", "Cf", "Cs", "Co", "Cn"}
_COMBINING = {"Mn", "Me"}
_MOST_COMBINING = 4
# Invisible letters: like control characters, they could hide text.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")


def clean(text: str) -> str:
    """Return `text` without escapes, control, bidi and other invisible characters; only `\\n` breaks lines."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPE.sub("", text)).replace("\t", "    ")
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in _COMBINING else 0
        if character == "\n" or not (category in _DROPPED or character in _BLANK_LETTERS or marks > _MOST_COMBINING):
            kept.append(character)
    return "".join(kept)


def one_line(text: str, longest: int = 400) -> str:
    """Clean text on one line: runs of white space become one space, and it is cut after `longest` characters."""
    # Cut first, so that a megabyte of text is not scanned for one line.
    line = " ".join(clean(text[: 8 * longest]).split())
    return line if len(line) <= longest else line[:longest]


def shortened(text: str, longest: int) -> str:
    """Like `one_line`, but cut text ends with a whole word and an ellipsis."""
    line = one_line(text, longest + 1)
    if len(line) <= longest:
        return line
    whole = line[: longest + 1].rpartition(" ")[0]
    return f"{whole if len(whole) > longest // 2 else line[: longest - 1]}…"
