"""The hash of several fields, against bytes written out by hand."""

import hashlib

from sapo_desktop.core.hashing import digest


def test_every_field_is_preceded_by_its_length() -> None:
    assert digest(b"ab", b"") == hashlib.sha256(b"\0\0\0\x02ab\0\0\0\0").digest()


def test_fields_cannot_run_into_each_other() -> None:
    assert digest(b"ab", b"c") != digest(b"a", b"bc")
