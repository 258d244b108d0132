"""The models to choose from: the catalogue and this computer's, as one list. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sapo_desktop.core.fitting import Badge, Estimate, ModelBadge
from sapo_desktop.core.models import Contents, Found, HubModel, Installed, Transfer, installed_name
from sapo_desktop.core.sentences import Text

RowState = Literal["at work", "next", "here", "unfinished", "damaged", "not here"]
_ORDER: tuple[RowState, ...] = ("at work", "next", "here", "unfinished", "damaged", "not here")
_BADGES: tuple[Badge, ...] = ("fits", "tight", "too big")
SHIPPED = "starter"
"""The value of the setting `model` for the program's own model."""
BYTES_A_PARAMETER = 2
"""Published models have 16 bits per weight."""


@dataclass(frozen=True)
class ModelRow:
    """One model."""

    name: str
    """The value for the setting `model`."""
    title: str
    state: RowState
    badge: ModelBadge | None = None
    """The catalogue's facts; None for other models."""
    takes: Estimate | None = None
    """Its needs here, once known."""
    hit: HubModel | None = None
    """The hub's facts."""
    installed: Installed | None = None
    found: Found | None = None
    """Its place in another program."""
    bytes: int = 0
    """On this computer."""
    problem: Text = ""
    """What is wrong with a damaged one."""
    transfer: Transfer | None = None
    """Its running download, if any."""

    @property
    def here(self) -> bool:
        """Whether the node could start with it."""
        return self.state in ("at work", "next", "here")

    @property
    def shipped(self) -> bool:
        """Part of the program: nothing to download or remove."""
        return self.badge is not None and not self.badge.repository

    @property
    def needs_account(self) -> bool:
        return self.badge.gate != "open" if self.badge is not None else self.hit is not None and self.hit.gated

    @property
    def only_answers(self) -> bool:
        """Whether its kind cannot learn here."""
        held = self.installed or self.found
        return bool(held.only_answers) if held is not None else self.hit is not None and not self.hit.architecture

    @property
    def to_download(self) -> int:
        """Approximate bytes; 0 if unknown, or there is nothing to download."""
        if self.hit is not None:
            return self.hit.bytes
        return BYTES_A_PARAMETER * self.badge.parameters if self.badge is not None and not self.shipped else 0

    @property
    def fit_order(self) -> int:
        """From what fits to what does not; unknown ones come last."""
        return _BADGES.index(self.takes.badge) if self.takes is not None else len(_BADGES)


def model_rows(
    badges: Sequence[ModelBadge],
    contents: Contents,
    at_work: str,
    chosen: str,
    found: Sequence[Found] = (),
    hits: Sequence[HubModel] = (),
    takes: Mapping[str, Estimate] | None = None,
) -> list[ModelRow]:
    """All of them: first the local ones, each kind in the catalogue's order, then by name.

    Args:
        at_work: the setting `model` now.
        chosen: its value after the current round.
        found: models of other programs.
        hits: results of a hub search.
        takes: needs of models outside the catalogue, by name, path or repository.
    """
    working, later = installed_name(at_work) or at_work, installed_name(chosen) or chosen
    installed = {model.name: model for model in contents.models}
    unfinished = {part.name: part.bytes for part in contents.unfinished}

    def state(name: str, here: bool) -> RowState:
        if name == working:
            return "at work"
        if name == later:
            return "next"
        if here:
            return "here"
        if name in contents.damaged:
            return "damaged"
        return "unfinished" if name in unfinished else "not here"

    known = {badge.here or badge.id: badge for badge in badges}
    takes = takes or {}
    rows = []
    for name in [*known, *sorted({*installed, *unfinished, *contents.damaged} - known.keys())]:
        badge, kept = known.get(name), installed.get(name)
        rows.append(
            ModelRow(
                name=name,
                title=badge.name if badge is not None else name,
                state=state(name, kept is not None or (badge is not None and badge.downloaded)),
                badge=badge,
                takes=badge or takes.get(name),
                installed=kept,
                bytes=kept.bytes if kept is not None else unfinished.get(name, 0),
                problem=contents.damaged.get(name, ""),
            )
        )
    rows += [
        ModelRow(
            name=one.path,
            title=one.name,
            state=state(one.path, here=True),
            found=one,
            bytes=one.bytes,
            takes=takes.get(one.path),
        )
        for one in found
    ]
    listed = {row.name: at for at, row in enumerate(rows)}
    for hit in hits:
        if (at := listed.get(hit.name)) is not None:
            rows[at] = replace(rows[at], hit=hit, takes=rows[at].takes or takes.get(hit.repository))
        else:
            found_here = ModelRow(name=hit.name, title=hit.repository, state="not here", hit=hit)
            rows.append(replace(found_here, takes=takes.get(hit.repository)))
    return sorted(rows, key=lambda row: _ORDER.index(row.state))


def best_here(rows: Sequence[ModelRow]) -> str:
    """Name of the largest local model that is known to fit; the shipped one if there is no other."""
    fitting = [row for row in rows if row.here and row.badge is not None and (row.shipped or row.badge.badge == "fits")]
    return max(fitting, key=lambda row: row.badge.parameters if row.badge else 0).name if fitting else SHIPPED


def filtered(rows: Sequence[ModelRow], which: str) -> list[ModelRow]:
    """`all` of them, those that are `here`, those that would `fit`, or the results from the `hub`."""
    match which:
        case "hub":
            order = {row.name: -row.hit.downloads for row in rows if row.hit is not None}
            return sorted((row for row in rows if row.hit is not None), key=lambda row: order[row.name])
        case "here":
            return [row for row in rows if row.state != "not here"]
        case "fit":
            rows = [row for row in rows if row.takes is not None and row.takes.badge != "too big"]
    return [row for row in rows if row.hit is None or row.state != "not here"]
