"""Text of strangers stays data on its line."""

import json

import msgspec

from sapo_desktop.core.records import json_line


class Said(msgspec.Struct):
    text: str


def test_a_line_is_one_line_of_ascii_whatever_it_says() -> None:
    hostile = 'a\nb\u2028c\x1b[2J\u202e"}\x00'
    line = json_line(Said(hostile))
    assert line.isascii() and line.endswith("}\n") and line[:-1].isprintable()
    assert json.loads(line) == {"text": hostile}
