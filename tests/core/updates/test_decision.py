"""Decisions on a manifest: whose signature is trusted, what is refused, and that refused versions are never offered."""

import datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.resources import resource
from sapo_desktop.core.updates.decision import Seen, judge
from sapo_desktop.core.updates.manifest import Release, Standing, order, read_release
from tests.core.updates.signing import DAY, FILE, NOW, RELEASE, manifest, public, signed

NOTHING = Seen()


def by(document: bytes, own: str = "1.1.0", now: float = NOW, seen: Seen = NOTHING, key: int = 1) -> Standing:
    return judge(document, signed(document, key), RELEASE, own, now, seen)[0]


def seen_of(document: bytes, key: int = 1) -> Seen:
    return judge(document, signed(document, key), RELEASE, "1.1.0", NOW, NOTHING)[1]


@pytest.mark.parametrize(
    ("own", "state"),
    [
        *(("1.1.0", "newer"), ("1.1.9", "newer"), ("1.0.0", "newer"), ("1.2.0rc1", "newer"), ("1.0", "newer")),
        *(("0.9.9", "urgent"), ("1.0.0.dev3", "urgent"), ("odd", "urgent")),
        *(("1.2.0", "current"), ("1.2", "current"), ("1.2.1", "current"), ("1.10.0", "current"), ("2.0", "current")),
    ],
)
def test_versions_are_compared_by_their_numbers(own: str, state: str) -> None:
    assert by(manifest(), own).state == state


def test_what_is_newer_is_said_with_what_is_new() -> None:
    found = by(manifest(changelog="**Faster**: rounds.\x1b[2J"))
    assert str(found.text) == "Version 1.2.0 of 2026-06-14 is available; this one is 1.1.0."
    assert found.changelog == "**Faster**: rounds." and found.files == [FILE] and found.page == RELEASE.page
    urgent = by(manifest(), "0.9.9")
    assert str(urgent.text) == (
        "Version 0.9.9 is no longer safe: 1.2.0 of 2026-06-14 replaces it. Download it from the app's page."
    )


def test_the_second_key_signs_too_and_from_then_on_the_first_is_not_believed() -> None:
    old, new = manifest(), manifest(number=8)
    rotated = seen_of(new, key=2)
    assert rotated.key == public(2) and by(new, key=2).state == "newer"
    assert by(manifest(number=9), seen=rotated, key=2).state == "newer"
    after = by(manifest(number=9), seen=rotated, key=1)
    assert after.state == "refused" and "old key that was replaced" in str(after.text)
    assert by(manifest(number=8), seen=seen_of(old), key=2).state == "newer"


def test_a_build_that_pins_other_keys_believes_those() -> None:
    rotated, later = seen_of(manifest(), key=2), Release(keys=[public(2), public(3)])
    document = manifest(number=8)
    for key in (2, 3):
        assert judge(document, signed(document, key), later, "1.1.0", NOW, rotated)[0].state == "newer"
    assert judge(document, signed(document, 1), later, "1.1.0", NOW, rotated)[0].state == "refused"


@pytest.mark.parametrize("number", [1, 6, 7])
def test_no_way_leads_back(number: int) -> None:
    seen = seen_of(manifest())
    other = manifest(number=number, version="1.3.0")
    found, after = judge(other, signed(other), RELEASE, "1.1.0", NOW, seen)
    assert found.state == "refused" and "Someone may be holding the newer one back" in str(found.text) and after == seen
    assert by(manifest(), seen=seen).state == "newer"  # the same once more is no step back


@pytest.mark.parametrize(
    ("days", "state"), [(-3, "refused"), (-2, "newer"), (0, "newer"), (29, "newer"), (30, "refused")]
)
def test_a_list_is_good_from_its_day_to_its_last(days: int, state: str) -> None:
    found = by(manifest(), now=NOW + days * DAY)
    assert found.state == state
    if days < 0 and state == "refused":
        assert "clock says 2026-06-12" in str(found.text) and "Set the clock" in str(found.text)
    elif state == "refused":
        assert "expired on 2026-07-14" in str(found.text) and "clock is right (2026-07-15)" in str(found.text)


def test_an_expired_list_still_moves_the_number_on() -> None:
    document = manifest(number=9)
    found, after = judge(document, signed(document), RELEASE, "1.1.0", NOW + 100 * DAY, seen_of(manifest()))
    assert found.state == "refused" and after.number == 9


@pytest.mark.parametrize(
    "document",
    [
        *(b"", b"[]", b"{}", b"\xff", b"[" * 100_000),
        manifest()[:-1] + b',"more":1}',
        manifest().replace(b'"format":1', b'"format":2'),
        manifest().replace(b"sapo-desktop", b"other-thing", 1),
        manifest().replace(b".deb", b"/deb"),
        manifest().replace(b"sapo-desktop_1", b"..sapo-desktop_1"),
        manifest(version="1.2"[:1]),
        manifest(least_version="1.3.0"),
        manifest(expires=datetime.date(2026, 1, 1)),
        manifest(number=0),
    ],
)
def test_what_is_signed_and_no_manifest_is_refused_with_the_reason(document: bytes) -> None:
    found, after = judge(document, signed(document), RELEASE, "1.1.0", NOW, NOTHING)
    assert found.state == "refused" and "cannot be read" in str(found.text) and after == NOTHING


@pytest.mark.parametrize(
    "signature",
    [b"", b"00" * 64, signed(manifest())[:-3], signed(manifest(number=8)), b"\xff" * 128, signed(manifest(), 3)],
)
def test_what_nobody_signed_is_refused(signature: bytes) -> None:
    found, after = judge(manifest(), signature, RELEASE, "1.1.0", NOW, NOTHING)
    assert found.state == "refused" and "not signed" in str(found.text) and after == NOTHING


@given(
    number=st.integers(1, 12),
    seen_number=st.integers(0, 12),
    key=st.integers(1, 3),
    seen_key=st.integers(0, 2),
    made=st.integers(-40, 40),
    good=st.integers(0, 60),
    own=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    flip=st.none() | st.integers(0, 10_000),
)
def test_nothing_older_expired_or_wrongly_signed_is_ever_offered(
    number: int, seen_number: int, key: int, seen_key: int, made: int, good: int, own: tuple[int, int], flip: int | None
) -> None:
    date = datetime.date(2026, 6, 15) + datetime.timedelta(days=made)
    document = manifest(number=number, date=date, expires=date + datetime.timedelta(days=good))
    signature = signed(document, key)
    if flip is not None:
        at = flip % len(document)
        document = document[:at] + bytes([document[at] ^ 1]) + document[at + 1 :]
    seen = Seen(number=seen_number, digest="", key=public(seen_key) if seen_key else "")
    found, after = judge(document, signature, RELEASE, f"{own[0]}.{own[1]}", NOW, seen)
    believed = flip is None and key <= 2 and key >= seen_key and number > seen_number
    in_time = made <= 1 and made + good >= 0
    assert (found.state != "refused") == (believed and in_time)
    assert after.number >= seen_number and (after != seen) == believed
    if found.state in ("newer", "urgent"):
        assert order(f"{own[0]}.{own[1]}") < order("1.2.0") and found.version == "1.2.0"


@given(document=st.binary(max_size=200), signature=st.binary(max_size=200))
def test_no_bytes_end_in_anything_but_a_standing(document: bytes, signature: bytes) -> None:
    assert judge(document, signature, RELEASE, "1.0", NOW, NOTHING) == (by(b"x", key=3), NOTHING)


def test_this_builds_own_file_can_be_read() -> None:
    read_release(resource("updates.toml"))


@pytest.mark.parametrize(
    "text",
    [
        *("address = 3", "adress = ''", "keys = ['zz']", "address = [", f"keys = {['a' * 64] * 3}"),
        *("address = 'https://release.example'", f"address = 'http://release.example'\nkeys = ['{'a' * 64}']"),
    ],
)
def test_an_address_without_encryption_or_key_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "updates.toml"
    path.write_text(text)
    with pytest.raises(SapoError, match="is damaged"):
        read_release(path)
    path.write_text(f"address = 'https://release.example'\nkeys = ['{'a' * 64}']")
    assert read_release(path).keys == ["a" * 64]


def test_a_standing_crosses_as_it_is() -> None:
    found = by(manifest())
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Standing) == found
