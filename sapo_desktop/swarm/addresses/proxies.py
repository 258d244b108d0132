"""Which proxy an outbound link goes through: the setting, else the environment's, else none.

Names are looked up by the proxy, never here. An address of a proxy may hold a login, so nothing said here repeats it.
Left out: the proxies of Windows' and macOS' own dialogs; asking those systems which hosts are excepted looks up names.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import Sentence, sentence
from sapo_desktop.swarm.addresses.address import Address

NO_PROXY = "off"
_SCHEMES = {"http": "http", "socks5h": "socks5h", "socks5": "socks5h"}
"""As typed -> as used: plain socks5 would look up names here."""
_FORM = sentence(
    "A proxy is written http://HOST:PORT or socks5h://HOST:PORT, or http://USER:PASSWORD@HOST:PORT where it asks for "
    "them; the setting may also be `off`."
)
_LONGEST_WORD = 255
"""Bytes of a user name or a password in SOCKS5 (RFC 1929)."""


def check_proxy(setting: str) -> str:
    """The proxy's address as it is used, or the setting itself where that is empty or `off`. Raises UsageError."""
    text = setting.strip()
    if text in ("", NO_PROXY):
        return text
    return _checked(text, sentence("The setting `proxy` cannot be used"))


def check_environment() -> None:
    """Raises UsageError where the environment names a proxy that cannot be used: going around it is no answer."""
    for tls in (True, False):
        _of_environment(tls)


def proxy_for(setting: str, address: Address) -> str | None:
    """The proxy for a link to this address; None: it is dialled directly.

    Raises:
        UsageError: the proxy cannot be used.
    """
    text = check_proxy(setting)
    if text:
        return None if text == NO_PROXY else text
    if proxy_bypass_environment(f"{address.host}:{address.port}"):
        return None
    return _of_environment(address.tls)


def _of_environment(tls: bool) -> str | None:
    found = getproxies_environment()
    for name in ("wss", "socks", "https", "all") if tls else ("ws", "socks", "https", "http", "all"):
        if found.get(name):
            text = found[name] if "://" in found[name] else f"http://{found[name]}"
            return _checked(text, sentence("The environment's {name} cannot be used", name=f"{name.upper()}_PROXY"))
    return None


def _checked(text: str, complaint: Sentence) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        # Its words would repeat the text.
        raise UsageError("{complaint}. {form}", complaint=complaint, form=_FORM) from None
    if parts.scheme not in _SCHEMES or not parts.hostname or not port or not text.isascii():
        raise UsageError("{complaint}. {form}", complaint=complaint, form=_FORM)
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError("{complaint}: nothing may stand behind its port. {form}", complaint=complaint, form=_FORM)
    if parts.username is not None and not (_is_word(parts.username, ":") and _is_word(parts.password or "")):
        raise UsageError(
            "{complaint}: its user name or password is missing, too long or not %-encoded. {form}",
            complaint=complaint,
            form=_FORM,
        )
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc}"


def _is_word(encoded: str, forbidden: str = "") -> bool:
    """Whether both kinds of proxy can be told this user name or password."""
    try:
        word = unquote(encoded, errors="strict")
    except UnicodeDecodeError:
        return False
    return 0 < len(word.encode("utf-8")) <= _LONGEST_WORD and not any(sign in word for sign in forbidden)
