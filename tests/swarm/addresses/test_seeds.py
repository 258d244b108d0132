"""The seed list: accepted entries, and those that are only reported."""

from pathlib import Path

import pytest

from sapo_desktop.core.resources import resource
from sapo_desktop.swarm.addresses.address import Address, read_seeds

KEY = bytes([7]) * 32


def test_lines_with_a_key_are_taken_and_others_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [
        "# operators",
        "",
        f"wss://relay.example:8765#{KEY.hex()}",
        "wss://nokey.example:8765",
        f"ws://plain.example:8765#{KEY.hex()}",
        "  # more",
        "rubbish \x1b[2J",
        f"  wss://[2001:db8::1]:443#{KEY.hex()}  ",
    ]
    path = tmp_path / "seeds.txt"
    path.write_text("\n".join(lines))
    assert read_seeds(path) == [Address("relay.example", 8765, key=KEY), Address("2001:db8::1", 443, key=KEY)]
    assert [record.getMessage().split(" of ")[0] for record in caplog.records] == ["Line 4", "Line 5", "Line 7"]
    assert "example" not in caplog.text and "\x1b" not in caplog.text


def test_the_list_of_the_release_has_no_line_that_is_none(caplog: pytest.LogCaptureFixture) -> None:
    read_seeds(resource("seeds.txt"))
    assert caplog.records == []
