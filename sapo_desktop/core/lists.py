"""Settings that hold a list: `peers`, `blocked`. Words stand with commas or blanks between them."""

from __future__ import annotations


def listed(text: str) -> list[str]:
    """The words, in their order."""
    return text.replace(",", " ").split()


def with_item(text: str, item: str) -> str:
    """The list with this item, which is there once."""
    kept = listed(text)
    return ", ".join([*kept, *([] if item in kept else [item])])


def without_item(text: str, item: str) -> str:
    """The list without this item."""
    return ", ".join(one for one in listed(text) if one != item)
