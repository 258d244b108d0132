"""The entry that starts the window at login."""

import contextlib
import plistlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sapo_desktop.system.desktop import autostart
from sapo_desktop.system.folders import DataFolder


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "autostart"


def words_of(entry: Path) -> list[str]:
    """The command as the specification has it read: the file's escapes first, then those of quoted words."""
    line = next(line for line in entry.read_text().splitlines() if line.startswith("Exec="))
    text = line.removeprefix("Exec=").replace("\\\\", "\\")
    words, word, quoted, letters = [], "", False, iter(text)
    for letter in letters:
        if letter == "\\" and quoted:
            word += next(letters)
        elif letter == '"':
            if quoted:
                words.append(word.replace("%%", "%"))
            word, quoted = "", not quoted
        elif quoted:
            word += letter
    return words


def test_an_entry_comes_and_goes_and_starts_the_window_in_the_tray(configuration: Path, tmp_path: Path) -> None:
    data = tmp_path / 'a "strange" 100% $folder\\'
    autostart.follow(True, data)
    (entry,) = configuration.iterdir()
    assert autostart.is_on(data) and not autostart.is_on(tmp_path)
    assert words_of(entry) == autostart.command(data)
    assert autostart.command(data)[-3:] == ["--tray", "--data", str(data)]
    icon = next(line for line in entry.read_text().splitlines() if line.startswith("Icon="))
    assert Path(icon.removeprefix("Icon=")).is_file(), "the system's list of programs shows it"
    autostart.follow(False, data)
    autostart.follow(False, data)
    assert not list(configuration.iterdir())


@pytest.mark.parametrize(
    ("line", "on"),
    [
        ("Hidden=true", False),
        ("X-GNOME-Autostart-enabled=false", False),
        (" Hidden = true ", False),
        ("Hidden=false", True),
        ("#Hidden=true", True),
        ("[Desktop Action other]\nHidden=true", True),
    ],
)
def test_an_entry_that_was_turned_off_elsewhere_starts_nothing(
    configuration: Path, tmp_path: Path, line: str, on: bool
) -> None:
    autostart.follow(True, tmp_path)
    (entry,) = configuration.iterdir()
    kept = entry.read_text().replace("X-GNOME-Autostart-enabled=true", "Comment=ä")
    entry.write_text(f"{kept}{line}\n", encoding="utf-8")
    assert autostart.is_on(tmp_path) is on
    autostart.follow(True, tmp_path)
    assert autostart.is_on(tmp_path)


class Registry:
    """Values of HKCU, by key and name."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.keys: dict[str, dict[str, object]] = {}
        module = SimpleNamespace(
            HKEY_CURRENT_USER="HKCU",
            KEY_SET_VALUE=2,
            REG_SZ=1,
            CreateKey=lambda root, key: contextlib.nullcontext(self.keys.setdefault(key, {})),
            OpenKey=lambda root, key, *access: contextlib.nullcontext(self._values(key)),
            SetValueEx=lambda key, name, reserved, kind, value: key.update({name: value}),
            QueryValueEx=lambda key, name: (self._value(key, name), 3),
            DeleteValue=lambda key, name: self._value(key, name) and key.pop(name),
        )
        patch.setitem(sys.modules, "winreg", module)

    def _values(self, key: str) -> dict[str, object]:
        if key not in self.keys:
            raise FileNotFoundError(key)
        return self.keys[key]

    @staticmethod
    def _value(key: dict[str, object], name: str) -> object:
        if name not in key:
            raise FileNotFoundError(name)
        return key[name]


def test_windows_says_next_to_the_entry_whether_it_was_turned_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry = Registry(monkeypatch)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    name = autostart.entry(tmp_path).stem
    assert not autostart.is_on(tmp_path)
    autostart.follow(True, tmp_path)
    assert autostart.is_on(tmp_path)
    approved = registry.keys[autostart.APPROVED_KEY] = {}
    assert autostart.is_on(tmp_path)
    for first, on in ((2, True), (3, False), (6, True), (7, False)):
        approved[name] = bytes([first, *[0] * 11])
        assert autostart.is_on(tmp_path) is on
    autostart.follow(True, tmp_path)
    assert autostart.is_on(tmp_path), "turned on here again"
    autostart.follow(False, tmp_path)
    assert not autostart.is_on(tmp_path)


def test_each_folder_has_its_own_and_the_users_own_is_not_named(configuration: Path, tmp_path: Path) -> None:
    for data in (DataFolder.default(), tmp_path):
        autostart.follow(True, data)
    assert len(list(configuration.iterdir())) == 2
    assert autostart.command(DataFolder.default())[-1] == "--tray"


def test_the_command_starts_the_program_from_anywhere(tmp_path: Path) -> None:
    *head, _, _, _ = autostart.command(tmp_path)
    done = subprocess.run([*head, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("sapo-desktop "), done.stderr


def test_what_cannot_be_written_is_said(configuration: Path, tmp_path: Path) -> None:
    configuration.parent.mkdir()
    configuration.write_text("a file where a folder should be")
    with pytest.raises(autostart.AutostartError, match="could not be changed"):
        autostart.follow(True, tmp_path)


def test_macos_gets_a_property_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    autostart.follow(True, tmp_path)
    made = plistlib.loads(autostart.entry(tmp_path).read_bytes())
    assert made["ProgramArguments"] == autostart.command(tmp_path) and made["RunAtLoad"]
