"""One record a line, as JSON: what is written to files of rollouts."""

from __future__ import annotations

import json

import msgspec


def json_line(record: msgspec.Struct) -> str:
    """All fields of a plain record, with the line's end. ASCII: text of strangers does nothing to who looks at it."""
    return json.dumps(msgspec.structs.asdict(record), ensure_ascii=True) + "\n"
