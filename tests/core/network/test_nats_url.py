"""Addresses that an operator may type as a server of the backbone."""

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.nats_url import is_guarded, nats_servers


def test_servers_are_read_with_their_ports() -> None:
    assert nats_servers("nats://a, tls://b.example:1,nats://[::1]:9/") == (
        "nats://a:4222",
        "tls://b.example:1",
        "nats://[::1]:9",
    )
    assert nats_servers("") == ()


@pytest.mark.parametrize("text", ["http://a", "a:4222", "nats://", "nats://a:x", "nats://a/b", "nats://a:99999"])
def test_what_is_no_server_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"tls://nats\.example:4222"):
        nats_servers(text)


@pytest.mark.parametrize("text", ["nats://user:secret@a", "tls://token@a"])
def test_a_secret_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError, match="--backbone-credentials") as refused:
        nats_servers(text)
    assert "secret" not in str(refused.value)


def test_what_may_get_a_password() -> None:
    servers = [
        "tls://a:1",
        "nats://127.0.0.1:1",
        "nats://[::1]:1",
        "nats://localhost:1",
        "nats://10.0.0.1:1",
        "nats://a:1",
    ]
    assert [is_guarded(server) for server in servers] == [True, True, True, True, False, False]
