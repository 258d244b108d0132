"""Addresses, well formed and not."""

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.swarm.addresses.address import Address, part_of_internet

KEY = "ab" * 32


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("wss://relay.example:8765", Address("relay.example", 8765)),
        (f"wss://relay.example:8765/#{KEY}", Address("relay.example", 8765, True, bytes.fromhex(KEY))),
        (" ws://127.0.0.1:1 ", Address("127.0.0.1", 1, False)),
        ("wss://[2001:db8::1]:443", Address("2001:db8::1", 443)),
        (f"wss://[::1]:8765#{KEY}", Address("::1", 8765, True, bytes.fromhex(KEY))),
    ],
)
def test_addresses_are_read_and_written(text: str, address: Address) -> None:
    assert Address.parse(text) == address == Address.parse(str(address))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("relay.example:8765", "Write an address like"),
        ("https://relay.example:8765", "Write an address like"),
        ("wss://relay.example", "port is missing"),
        ("wss://relay.example:99999", "cannot be read"),
        ("wss://[::1:1", "cannot be read"),
        ("wss://user:secret@relay.example:1", "Write an address like"),
        ("wss://relay.example:1/path", "Write an address like"),
        ("wss://rel ay:1", "' is not a host name"),
        ("wss://-x:1", "' is not a host name"),
        ("wss://a..example:1", "' is not a host name"),
        (f"wss://{64 * 'a'}.example:1", "' is not a host name"),  # longer than a label: no resolver takes it
        (f"wss://{70 * 'abc.'}example:1", "' is not a host name"),
        ("wss://relay.example:1#12", "64 hex digits"),
        ("wss://relay.example:1#", "64 hex digits"),  # cut off while copying: not the same as an address without a key
        ("wss://[2600::1%eth0]:8765", "' is not a host name"),  # a zone is its own computer's affair
        (f"wss://[2600::1%{80 * 'a'}]:8765", "' is not a host name"),  # and one like this no resolver can be asked for
    ],
)
def test_what_is_wrong_is_said(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Address.parse(text)


@pytest.mark.parametrize(
    "host",
    [
        *("10.0.0.1", "192.168.1.1", "127.0.0.1", "169.254.1.1", "::1", "fe80::1", "fec0::2", "::7f00:1", "224.0.0.1"),
        *("::ffff:10.0.0.1", "::ffff:127.0.0.1"),  # dressed up
        *("2002:0a00:0001::1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "fd00::1", "2001:db8::1"),  # behind a translator
        *("::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "5f00::1", "3fff::1", "::127.0.0.1", "fec0::1"),
        # Names of hosts at home, and what a resolver takes for an address.
        *("localhost", "printer", "nas.local", "a.localhost", "gate.lan", "x.home.arpa"),
        *("127.1", "1.0x7f", "2130706433"),
        # A cloud's services for its machines.
        *("169.254.169.254", "fd00:ec2::254", "192.0.0.192", "168.63.129.16", "metadata.google.internal"),
    ],
)
def test_strangers_may_not_name_private_places(host: str) -> None:
    assert not Address(host, 8765).is_public


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "relay.example", "2606:4700::1111", "2002:0808:0808::1", "64:ff9b::8.8.8.8"]
)
def test_public_ones_they_may(host: str) -> None:
    assert Address(host, 1).is_public


def test_one_party_usually_has_a_whole_part_of_the_internet() -> None:
    assert part_of_internet("192.0.2.1") == part_of_internet("192.0.2.250") != part_of_internet("192.0.3.1")
    assert part_of_internet("2001:db8:1::1") == part_of_internet("2001:db8:1:9::2") != part_of_internet("2001:db8:2::1")
    assert part_of_internet("::ffff:192.0.2.1") == part_of_internet("192.0.2.9")
