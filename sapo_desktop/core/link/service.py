"""What a host process runs: a server that does one thing at a time, on the main thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

Asked = TypeVar("Asked")
Progress = Callable[[msgspec.Struct], None]


class Service(ABC, Generic[Asked]):
    """A service's module has `create()`, which returns one. `Asked`: the union of its requests."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        """Names and versions of the libraries that its results depend on."""
        self.cancelled = threading.Event()
        """Set to cancel the current request: `handle` then raises HostCancelled or returns early. Cleared before each
        request."""
        self.between: Callable[[], None] = lambda: None
        """Set by the host. Long work calls it at every step: urgent requests are then passed to `handle_aside`."""

    @abstractmethod
    def handle(self, request: Asked, progress: Progress) -> msgspec.Struct:
        """Do the work and return the reply; `progress` sends a message before it. Raises SapoError."""

    def handle_aside(self, request: Asked, progress: Progress, should_stop: Callable[[], bool]) -> msgspec.Struct:
        """The same between two steps of other work."""
        return self.handle(request, progress)
