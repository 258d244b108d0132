"""What is asked and told about memory: which model fits, here or on a machine that is only described."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.fitting import Fit, ModelBadge

Gibibytes = Annotated[float, Meta(ge=0, le=1_000_000)]


class FitMessage(msgspec.Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True):
    """Base of these messages of the control channel."""


class GetFit(FitMessage, frozen=True):
    """What would run here, or on a machine with so much memory (GiB) of its own and on its card."""

    ram: Gibibytes | None = None
    vram: Gibibytes | None = None


class GetCatalogue(FitMessage, frozen=True):
    """Every model of the catalogue, and whether it fits here."""


class FitIs(FitMessage, frozen=True):
    fit: Fit


class CatalogueIs(FitMessage, frozen=True):
    models: list[ModelBadge]


FitRequest = GetFit | GetCatalogue
FitReply = FitIs | CatalogueIs
