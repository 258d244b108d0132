"""The settings file, and settings as a person types them.

TOML that keeps the user's comments and order; each new key is written with its description above it. The types in
`core/settings.py` alone decide what is valid. A file with an unknown key or a value out of range is refused and left as
it is: a guess would train with settings that nobody chose. A file that is not TOML is refused too, except by a starting
node, which moves it aside and reports that. tomlkit is imported only to read a file, because it takes as long as a page
of the window and most clients need only the meaning of settings.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect

from sapo_desktop.core import schedule
from sapo_desktop.core.errors import SettingsError
from sapo_desktop.core.files.durable import disk_errors_as, remove_leftovers, write_atomically
from sapo_desktop.core.files.reading import UnfitFile, read_text
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Sentence, Text, joined, sentence
from sapo_desktop.core.settings import SETTINGS_VERSION, GroupName, Parameters, Settings

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def _check_model(text: str) -> None:
    """A relative path would depend on the folder in which the node starts."""
    if not text.strip():
        raise SettingsError(
            sentence("model cannot be empty. It is starter, an installed model's name, a model folder, or a GGUF file.")
        )


_READ: Mapping[str, Callable[[str], object]] = {
    "model": _check_model,
    "schedule": schedule.parse,
}
"""Further parsers for a value's text; they raise SettingsError if it is invalid."""
_LONGEST = 1 << 18
"""Bytes; thirty times what all settings take, and about a second to read."""
_VERSION = "version"
_GONE = frozenset(
    {
        *("generator_weights", "remote_key_in_clear", "remote_model", "use_seed_list", "private_addresses"),
        *("upload_kilobytes_away", "download_kilobytes_away", "threads_away", "processor_percent_away"),
        *("memory_reserve", "memory_back_after", "core_watts", "away_after", "battery_least", "card_share"),
        *("hub_endpoint", "keep_checkpoints", "write_gigabytes_a_day", "close_to_tray", "quiet_hours"),
    }
)
"""Settings of older files. The program decides these now; CHANGELOG.md says what replaced them."""
_YES, _NO = {"on", "true", "yes", "1"}, {"off", "false", "no", "0"}


class SettingInfo(Record, frozen=True):
    """One setting, as shown to a person."""

    key: str
    title: str
    """Its display name."""
    group: GroupName
    description: str
    """One sentence: what it does."""
    allowed: Text
    """What is allowed, in words: `a whole number from 2 to 64`."""
    default: bool | int | float | str
    secret: bool = False
    """Whether its value may contain a login."""
    text: bool = False
    """Whether free text is allowed."""
    renews: bool = False
    """Whether a change rebuilds the node."""


class ReadSettings(Record, frozen=True):
    """The settings, and remarks about the file for a person (empty if all is well)."""

    settings: Settings
    said: Text = ""


class _Field(Record, frozen=True):
    info: SettingInfo
    kind: inspect.Type
    hint: Any
    """The annotation itself, to check a single value with msgspec."""


def read(path: Path, now: float | None = None) -> ReadSettings:
    """Read the settings in the file, or the defaults if there is none.

    With `now` (Unix time), a file that is not TOML is renamed to include that time and the defaults apply. Removed
    settings are dropped from the file. The caller reports what is `said`.

    Raises:
        SettingsError: not TOML, an unknown key, a value out of range, a newer version, or an unreadable file.
    """
    remove_leftovers(path)
    try:
        values = dict(_document(path).unwrap())
    except SettingsError as error:
        if now is None:
            raise
        said = sentence(
            "The settings file was damaged ({error}). It was moved to {name}; the defaults are in use.",
            error=str(error.__cause__),
            name=set_aside(path, now),
        )
        return ReadSettings(settings=Settings(), said=said)
    except UnfitFile as error:
        raise SettingsError(
            "{path} is not a settings file ({reason}). Move it away to use the defaults.",
            path=str(path),
            reason=str(error.strerror),
        ) from error
    except OSError as error:
        raise SettingsError(
            "The settings file {path} cannot be read ({error}): check its permissions.",
            path=str(path),
            error=str(error),
        ) from error
    migrated = _migrated(values, path)
    found = ReadSettings(settings=_checked(migrated, path), said=_dropped(values, migrated))
    if found.said and now is not None:
        with contextlib.suppress(SettingsError):  # a file that cannot be written is reported again at the next start
            write(path, found.settings)
    return found


def set_aside(path: Path, now: float) -> str:
    """Rename an unusable settings file, and return its new path. `now`: Unix time.

    Raises:
        SettingsError: it cannot be renamed.
    """
    aside = path.with_name(f"{path.stem}.damaged-{int(now)}{path.suffix}")
    with disk_errors_as(
        SettingsError, sentence("The damaged settings file {path} could not be moved away", path=str(path))
    ):
        path.rename(aside)
    return aside.name


def write(path: Path, settings: Settings) -> None:
    """Write the settings durably and as a whole; comments, order and layout of an existing file stay.

    Raises:
        SettingsError: the file cannot be written, or the existing one is not TOML.
    """
    import tomlkit

    with disk_errors_as(SettingsError, sentence("The settings file {path} could not be written", path=str(path))):
        document = _document(path)
        for old in [key for key in document if key not in _FIELDS and key != _VERSION]:
            document.remove(old)  # `read` has reported it
        for field in _FIELDS.values():
            key, value = field.info.key, getattr(settings, field.info.key)
            if key not in document:
                document.add(tomlkit.nl())
                document.add(tomlkit.comment(f"{field.info.description} ({field.info.allowed})"))
                document.add(key, value)
            elif document[key] != value:
                document[key] = value
        document[_VERSION] = SETTINGS_VERSION
        write_atomically(path, tomlkit.dumps(document).encode())


def keys_of(*groups: GroupName) -> list[str]:
    """The settings of these groups, in the order of the file."""
    return [key for key, field in _FIELDS.items() if field.info.group in groups]


def describe(key: str) -> SettingInfo:
    """What a setting means and allows. Raises SettingsError with the nearest name if there is none."""
    return _field(key).info


def known_keys() -> list[str]:
    """The settings' names, in the order of the file, without those that commands store there."""
    return [key for key, field in _FIELDS.items() if field.info.group != "kept"]


def shown(key: str, value: bool | int | float | str) -> bool | int | float | str:
    """The value as others may see it: an address without its login."""
    if not describe(key).secret or not isinstance(value, str) or "@" not in value:
        return value
    scheme, separator, _ = value.partition("://")
    return f"{scheme if separator else ''}{separator}***@{value.rpartition('@')[2]}"


def parse_value(key: str, text: str, *, lab: bool = False) -> bool | int | float | str:
    """Parse the value that a person typed for a setting.

    Raises:
        SettingsError: no such setting, or an invalid value; the message says what is allowed.
    """
    field = _PARAMETERS[key] if lab and key in _PARAMETERS else _field(key)
    value = _typed(field.kind, text.strip())
    if value is None or not _fits(value, field):
        raise SettingsError(
            "{key} cannot be '{value}'. Allowed: {allowed}. {description}",
            key=key,
            value=str(shown(key, text)),
            allowed=field.info.allowed,
            description=Sentence(template=field.info.description),  # translated by the window
        )
    if key in _READ:
        _READ[key](str(value))
    return value


def apply(settings: Settings, values: Mapping[str, str], *, lab: bool = False) -> Settings:
    """Apply all typed values to the settings, or none. `lab`: allow the lab's parameters, too.

    Raises:
        SettingsError: everything that is wrong, a line each.
    """
    taken: dict[str, object] = {}
    wrong: list[Text] = []
    for key, text in values.items():
        try:
            taken[key] = parse_value(key, text, lab=lab)
        except SettingsError as error:
            wrong.append(error.text)
    if wrong:
        raise SettingsError(joined(wrong, "\n"))
    return msgspec.structs.replace(settings, **taken)


def reset(settings: Settings, keys: Sequence[str]) -> Settings:
    """Set the named keys, or all if none is named, back to their defaults."""
    return msgspec.structs.replace(settings, **{key: describe(key).default for key in keys or known_keys()})


def changed_keys(settings: Settings) -> list[str]:
    """The keys whose value differs from the default."""
    return [key for key in known_keys() if getattr(settings, key) != _FIELDS[key].info.default]


def _document(path: Path) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(read_text(path, _LONGEST))
    except FileNotFoundError:
        document = tomlkit.document()
        document.add(tomlkit.comment("Settings of this node. Change them here while it does not run, or with"))
        document.add(tomlkit.comment("`sapo-desktop settings set KEY VALUE` at any time."))
        document.add(_VERSION, tomlkit.item(SETTINGS_VERSION))
        return document
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(
            "The settings file {path} is damaged ({error}) and was left unchanged. Correct it, or move "
            "it away to use the defaults.",
            path=str(path),
            error=str(error),
        ) from error


def _migrated(values: dict[str, object], path: Path) -> dict[str, object]:
    """The values without removed settings."""
    newest = SETTINGS_VERSION
    version = values.pop(_VERSION, newest)  # a file written by hand uses today's keys
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SettingsError(
            "{path} has the version {version}; it must be a whole number, now {newest}.",
            path=str(path),
            version=_quoted(version),
            newest=newest,
        )
    if version > newest:
        raise SettingsError(
            "A newer SAPO Desktop wrote {path} (version {version}; this one knows {newest}). Install the "
            "newer version, or use another data folder.",
            path=str(path),
            version=_quoted(version),
            newest=newest,
        )
    return {key: value for key, value in values.items() if key not in _GONE and key not in _PARAMETERS}


def _dropped(before: Mapping[str, object], after: Mapping[str, object]) -> Text:
    """The values of an older file that have no meaning any more."""
    gone = [key for key in before if key not in after]
    if not gone:
        return ""
    return sentence(
        "This version chooses some values of the settings file automatically: {values}. You need not do anything.",
        values=", ".join(f"{key} = {_quoted(before[key])}" for key in gone),
    )


def _checked(values: Mapping[str, object], path: Path) -> Settings:
    for key, value in values.items():
        field = _field(key, path)
        if not _fits(value, field):
            quoted = _quoted(value)
            seen = shown(key, quoted) if field.info.secret else quoted
            raise SettingsError(
                "{key} = {value} in {path} is not possible. Allowed: {allowed}. Change that line.",
                key=key,
                value=str(seen),
                path=str(path),
                allowed=field.info.allowed,
            )
        if key in _READ:
            _READ[key](str(value))
    return msgspec.convert(dict(values), Settings)


def _quoted(value: object) -> str:
    """The value as written in a file."""
    try:
        return repr(value)
    except ValueError:  # a whole number of more than 4,300 digits
        return "..."


def _field(key: str, path: Path | None = None) -> _Field:
    if key in _FIELDS:
        return _FIELDS[key]
    near = difflib.get_close_matches(key, _FIELDS, 1, 0.5)
    if near:
        advice = sentence("did you mean {name}?", name=near[0])
    elif path is None:
        advice = sentence("there are: {names}.", names=", ".join(_FIELDS))
    else:  # the window shows this: ninety names would fill it
        advice = sentence("remove that line.")
    if path is None:
        raise SettingsError("There is no setting '{name}'; {advice}", name=key, advice=advice)
    raise SettingsError("There is no setting '{name}' in {path}; {advice}", name=key, path=str(path), advice=advice)


def _typed(kind: inspect.Type, text: str) -> bool | int | float | str | None:
    """Convert the text to that kind; None if it is invalid."""
    match kind:
        case inspect.BoolType():
            return True if text.lower() in _YES else False if text.lower() in _NO else None
        case inspect.IntType():
            return int(text) if re.fullmatch(r"[+-]?[0-9]{1,20}", text) else None
        case inspect.FloatType():
            try:
                return float(text)
            except ValueError:
                return None
        case _:
            return text


def _fits(value: object, field: _Field) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False  # TOML and float() both accept nan, which passes every range check
    if isinstance(value, str) and not value.isprintable():
        return False
    try:
        msgspec.convert(value, field.hint)
    except msgspec.ValidationError:
        return False
    return True


def _allowed(kind: inspect.Type) -> Text:
    match kind:
        case inspect.BoolType():
            return sentence("on or off")
        case inspect.IntType(ge=low, le=high):
            return sentence("a whole number from {low} to {high}", low=str(low), high=str(high))
        case inspect.FloatType(gt=above, ge=low, le=high):
            if above is None:
                return sentence("a number from {low} to {high}", low=f"{low:g}", high=f"{high:g}")
            return sentence("a number above {low}, to {high}", low=f"{above:g}", high=f"{high:g}")
        case inspect.LiteralType(values=values):
            return sentence("one of {choices}", choices=", ".join(map(str, values)))
        case inspect.StrType(max_length=longest):
            if longest is None:
                return sentence("text on one line")
            return sentence("text on one line, at most {longest} characters", longest=str(longest))
        case _:
            raise TypeError(f"no words for a setting of type {kind}")


def _fields(of: type[Parameters]) -> dict[str, _Field]:
    found = inspect.type_info(of)
    assert isinstance(found, inspect.StructType)
    hints = msgspec.structs.fields(of)
    return {field.name: _field_of(field, hint.type) for field, hint in zip(found.fields, hints, strict=True)}


def _field_of(field: inspect.Field, hint: Any) -> _Field:
    assert isinstance(field.type, inspect.Metadata), f"the setting {field.name} has no description"
    words, extra = field.type.extra_json_schema or {}, field.type.extra or {}
    info = SettingInfo(
        key=field.name,
        title=words["title"],
        group=extra["group"],
        description=words["description"],
        allowed=_allowed(field.type.type),
        default=field.default,
        secret=extra.get("secret", False),
        text=isinstance(field.type.type, inspect.StrType),
        renews=extra.get("renews", False),
    )
    return _Field(info=info, kind=field.type.type, hint=hint)


_PARAMETERS = _fields(Parameters)
_FIELDS = {key: field for key, field in _fields(Settings).items() if key not in _PARAMETERS}
