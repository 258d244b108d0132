"""Which addresses of an invite a person is asked about before they are dialled."""

import pytest

from sapo_desktop.core.network.invite import Invite, asks_first

SWARM = "5a" * 32


@pytest.mark.parametrize(
    "peer",
    [
        *(
            "wss://127.0.0.1:8765",
            "ws://localhost:8765",
            "wss://[::1]:8765",
            "wss://0.0.0.0:8765",
            "wss://2130706433:9000",
        ),
        *("wss://192.168.1.1:8765", "wss://10.0.0.1:443", "wss://nas.local:8765", "wss://printer:9100"),
        *("wss://169.254.169.254:443", "wss://[fd00:ec2::254]:8765", "wss://metadata.google.internal:443"),
        *("wss://[::ffff:10.0.0.1]:8765", "wss://[2002:a00:1::1]:8765", "wss://[64:ff9b::7f00:1]:8765"),
        *("wss://relay.example:22", "wss://8.8.8.8:53"),
    ],
)
def test_what_no_stranger_may_have_dialled_is_asked_about(peer: str) -> None:
    invite = Invite(SWARM, ("wss://relay.example:8765", peer))
    assert invite.nearby == (peer,)
    assert peer in str(asks_first(invite))


@pytest.mark.parametrize(
    "peer", ["wss://relay.example:8765", "wss://8.8.8.8:443", "wss://[2606:4700::1111]:8765#" + "ab" * 32]
)
def test_the_public_internet_is_not(peer: str) -> None:
    assert Invite(SWARM, (peer,)).nearby == ()
