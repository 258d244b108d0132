"""What is asked and told about memory: which model fits, here or on a machine that is only described."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from sapo_desktop.core.fitting import Fit, ModelBadge
from sapo_desktop.worker.control.messages.base import Message

Gibibytes = Annotated[float, Meta(ge=0, le=1_000_000)]


class GetFit(Message, frozen=True, kw_only=True):
    """What would run here, or on a machine with so much memory (GiB) of its own and on its card."""

    ram: Gibibytes | None = None
    vram: Gibibytes | None = None


class GetCatalogue(Message, frozen=True, kw_only=True):
    """Every model of the catalogue, and whether it fits here."""


class FitIs(Message, frozen=True, kw_only=True):
    fit: Fit


class CatalogueIs(Message, frozen=True, kw_only=True):
    models: list[ModelBadge]
    disk_free: int = 0
    """Bytes on the disk that models are kept on."""


FitRequest = GetFit | GetCatalogue
FitReply = FitIs | CatalogueIs
