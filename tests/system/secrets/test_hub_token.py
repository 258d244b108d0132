"""The hub's token: one for each endpoint, in the keyring, or from the environment for one process."""

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from sapo_desktop.core.errors import IdentityError, UsageError
from sapo_desktop.system.secrets.kept_secrets import hub_token
from tests.system.test_identity import LOCKED, Memory, in_memory

HUB, TOKEN = "https://hub.example", "hf_abcdefgh"


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return in_memory(monkeypatch)


def test_each_endpoint_has_its_own(memory: Memory) -> None:
    hub_token.keep(HUB, TOKEN)
    assert hub_token.load(f"{HUB}/") == TOKEN
    assert hub_token.load("https://mirror.example") is None
    assert hub_token.forget(HUB) and not hub_token.forget(HUB)
    assert hub_token.load(HUB) is None and memory.kept == {}


def test_the_environment_goes_first_for_its_own_hub(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_environment")
    hub_token.keep(HUB, TOKEN)
    assert hub_token.load("https://huggingface.co") == "hf_of_the_environment"
    assert hub_token.load(HUB) == TOKEN, "a mirror that was configured before could ask for what is not meant for it"
    monkeypatch.setenv("HF_ENDPOINT", f"{HUB}/")
    assert hub_token.load(HUB) == "hf_of_the_environment"


@pytest.mark.parametrize("token", ["", "short", "two words here", "hf_\x00abcdefgh", "hf_ü12345678", "x" * 501])
def test_what_is_no_token_is_not_kept(memory: Memory, token: str) -> None:
    with pytest.raises(UsageError):
        hub_token.keep(HUB, token)
    assert memory.kept == {}


@pytest.mark.parametrize("error", LOCKED)
def test_a_locked_keyring_is_said(memory: Memory, error: Exception) -> None:
    memory.locked = error
    for ask in (hub_token.load, hub_token.forget):
        with pytest.raises(IdentityError, match=r"Unlock it .* or set HF_TOKEN"):
            ask(HUB)


def test_without_a_keyring_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(keyring, "get_keyring", NoKeyring)
    assert hub_token.load(HUB) is None
    with pytest.raises(IdentityError, match="This computer has no keyring that stores secrets"):
        hub_token.keep(HUB, TOKEN)
