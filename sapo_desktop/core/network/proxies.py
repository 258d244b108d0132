"""Which proxy to use: the one in the settings, otherwise the environment's, otherwise none.

Links, downloads, update checks and remote servers all ask here. The proxy resolves names, never this computer. A
proxy's address may hold a login, so no message repeats it. The proxy settings of Windows and macOS are not used,
because finding their exceptions would resolve names.
"""

from __future__ import annotations

import ipaddress
import re
import ssl
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.network.ranges import ip_of
from sapo_desktop.core.sentences import Sentence, Text, sentence

NO_PROXY = "off"
_SCHEMES = {"http": "http", "socks5h": "socks5h", "socks5": "socks5h", "socks": "socks5h"}
"""Typed scheme -> used scheme: plain socks5 would resolve names here, and desktops write `socks` into the
environment."""
_FORM = sentence(
    "Write a proxy as http://HOST:PORT or socks5h://HOST:PORT, or with a password as "
    "http://USER:PASSWORD@HOST:PORT. The setting may also be `off`."
)
_LONGEST_WORD = 255
"""Maximum bytes of a user name or a password in SOCKS5 (RFC 1929)."""
_SETTING = sentence("the setting `proxy`")


@dataclass(frozen=True)
class Proxy:
    """A usable proxy. `source`: where its address comes from."""

    url: str = field(repr=False)
    source: Text

    @property
    def host_and_port(self) -> tuple[str, int]:
        """The host and port to connect to."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    @property
    def shown(self) -> str:
        """Its address without a login."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def is_away(self, error: BaseException) -> bool:
        """Whether a connection failed before the proxy could answer. An error in TLS means that the host was
        reached."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLError):
                return False
            cause = cause.__cause__ or cause.__context__
        return True

    def unreachable(self, reason: str) -> Sentence:
        """The message if nobody answers at its address."""
        return sentence(
            "The proxy {proxy} ({source}) cannot be reached: {reason}. Check whether it runs, or correct {source}.",
            proxy=self.shown,
            source=self.source,
            reason=reason.rstrip("."),
        )

    def refuses(self, target: str, reason: str) -> Sentence:
        """The message if the proxy refuses to connect. `reason`: in its words, such as `HTTP 403`."""
        if "407" in reason:
            return sentence(
                "The proxy {proxy} ({source}) requires a user name and a password (HTTP 407). Write them "
                "into {source} as http://USER:PASSWORD@HOST:PORT.",
                proxy=self.shown,
                source=self.source,
            )
        return sentence(
            "The proxy {proxy} ({source}) does not connect to {target}: {reason}. Ask the proxy's administrator, or "
            "list the host in NO_PROXY.",
            proxy=self.shown,
            source=self.source,
            target=target,
            reason=reason.rstrip("."),
        )


def check_proxy(setting: str) -> str:
    """The normalised address of the proxy, or the setting itself if it is empty or `off`. Raises UsageError."""
    text = setting.strip()
    if text in ("", NO_PROXY):
        return text
    return _checked(text, sentence("The setting `proxy` cannot be used"))


def check_environment() -> None:
    """Raise UsageError if the environment names an unusable proxy. Bypassing it would be wrong."""
    for tls in (True, False):
        _of_environment(tls)


def proxy_for(setting: str, host: str, port: int, *, tls: bool) -> Proxy | None:
    """The proxy for a connection to this host; None: connect directly, as always to this computer.

    Raises:
        UsageError: the proxy cannot be used.
    """
    text = check_proxy(setting)
    if text == NO_PROXY or _is_this_computer(host):
        return None
    if text:
        return Proxy(text, _SETTING)
    if _is_excepted(getproxies_environment().get("no", ""), host.lower(), port):
        return None
    return _of_environment(tls)


def proxy_for_url(setting: str, url: str) -> Proxy | None:
    """Like `proxy_for`, for an `http://` or `https://` address."""
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    return proxy_for(setting, parts.hostname or "", parts.port or (443 if tls else 80), tls=tls)


def _of_environment(tls: bool) -> Proxy | None:
    found = getproxies_environment()
    for name in ("https" if tls else "http", "all"):
        if found.get(name):
            variable = f"{name.upper()}_PROXY"
            text = found[name] if "://" in found[name] else f"http://{found[name]}"
            url = _checked(text, sentence("The environment's {name} cannot be used", name=variable))
            return Proxy(url, sentence("the environment's {name}", name=variable))
    return None


def _is_this_computer(host: str) -> bool:
    ip = ip_of(host)
    return host.lower() == "localhost" if ip is None else ip.is_loopback


def _is_excepted(listed: str, host: str, port: int) -> bool:
    """Whether NO_PROXY names this host: by `*`, name or parent domain, address or network, with or without a port."""
    ip = ip_of(host)
    for entry in filter(None, re.split(r"[,\s]+", listed.lower())):
        with_port = re.fullmatch(r"(\[.*\]|[^:]*):([0-9]{1,5})", entry)
        if with_port and int(with_port[2]) != port:
            continue
        name = (with_port[1] if with_port else entry).strip("[]")
        if name == "*":
            return True
        try:
            network = ipaddress.ip_network(name, strict=False)
        except ValueError:
            domain = name.removeprefix("*").removeprefix(".")
            if domain and (host == domain or host.endswith(f".{domain}")):
                return True
            continue
        if ip is not None and ip.version == network.version and ip in network:
            return True
    return False


def _checked(text: str, complaint: Sentence) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        # The error's own words would repeat the text.
        raise UsageError("{complaint}. {form}", complaint=complaint, form=_FORM) from None
    if parts.scheme not in _SCHEMES or not parts.hostname or not port or not text.isascii():
        raise UsageError("{complaint}. {form}", complaint=complaint, form=_FORM)
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError("{complaint}: nothing may follow its port. {form}", complaint=complaint, form=_FORM)
    if parts.username is not None and not (_is_word(parts.username, ":") and _is_word(parts.password or "")):
        raise UsageError(
            "{complaint}: its user name or password is missing, too long or not %-encoded. {form}",
            complaint=complaint,
            form=_FORM,
        )
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc}"


def _is_word(encoded: str, forbidden: str = "") -> bool:
    """Whether both kinds of proxy accept this as a user name or password."""
    try:
        word = unquote(encoded, errors="strict")
    except UnicodeDecodeError:
        return False
    return 0 < len(word.encode("utf-8")) <= _LONGEST_WORD and not any(sign in word for sign in forbidden)
