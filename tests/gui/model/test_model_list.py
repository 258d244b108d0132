import msgspec

from sapo_desktop.core.fitting import ModelBadge
from sapo_desktop.core.models import Contents, Installed, KeptFile, Unfinished
from sapo_desktop.gui.model.model_list import filtered, model_rows
from tests.gui.staged_model import catalogue

_BADGE = msgspec.structs.replace(
    catalogue()[0], parameters=2_000_000, id="starter", name="Starter", here="starter", badge="fits", gate="open"
)


def _badge(name: str, **changes: object) -> ModelBadge:
    base = msgspec.structs.replace(_BADGE, id=name, name=name.title(), repository=f"x/{name}", here="")
    return msgspec.structs.replace(base, **changes)


def _installed(name: str) -> Installed:
    file = KeptFile(bytes=10, sha256="0" * 64)
    return Installed(name=name, kind="transformers", source=f"x/{name}", installed=0.0, files={"a": file, "b": file})


_BADGES = [_BADGE, _badge("small"), _badge("middle", badge="tight"), _badge("large", badge="too big", gate="account")]
_CONTENTS = Contents(
    models=[_installed("small"), _installed("owner--own")],
    unfinished=[Unfinished(name="middle", bytes=4), Unfinished(name="owner--half", bytes=3)],
    damaged={"broken": "its manifest is missing"},
)


def test_what_is_at_hand_comes_first() -> None:
    rows = model_rows(_BADGES, _CONTENTS, "starter", "small")
    assert [(row.name, row.state) for row in rows] == [
        ("starter", "at work"),
        ("small", "next"),
        ("owner--own", "here"),
        ("middle", "unfinished"),
        ("owner--half", "unfinished"),
        ("broken", "damaged"),
        ("large", "not here"),
    ]


def test_what_is_known_of_each() -> None:
    rows = {row.name: row for row in model_rows(_BADGES, _CONTENTS, "starter", "starter")}
    assert rows["starter"].shipped and rows["starter"].here and rows["starter"].to_download == 0
    assert rows["small"].bytes == 20 and rows["small"].here
    assert rows["middle"].bytes == 4 and not rows["middle"].here
    assert rows["large"].needs_account and rows["large"].to_download == 4_000_000
    assert rows["broken"].problem == "its manifest is missing"


def test_a_repository_in_the_settings_is_found_by_the_name_it_is_installed_under() -> None:
    rows = model_rows(_BADGES, _CONTENTS, "owner/own", "owner/own")
    assert rows[0].name == "owner--own" and rows[0].state == "at work"
    rows = model_rows(_BADGES, Contents(), "/home/me/model", "/home/me/model")
    assert all(row.state != "at work" for row in rows), "a path is none of them"


def test_filters() -> None:
    rows = model_rows(_BADGES, _CONTENTS, "starter", "starter")
    assert len(filtered(rows, "all")) == len(rows)
    assert {row.name for row in filtered(rows, "fit")} == {"starter", "small", "middle"}
    assert "large" not in {row.name for row in filtered(rows, "here")}
