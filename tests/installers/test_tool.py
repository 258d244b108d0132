import sys
from pathlib import Path

import pytest

from installers import tool
from installers.tool import clean_environment, find_tool, settings_for_uv
from installers.trouble import SetupError


def test_options_of_pip_hold_for_uv_too() -> None:
    settings = {"index-url": "A", "extra-index-url": "B C", "find-links": "/x /y", "timeout": "9"}
    assert settings_for_uv(settings, present={}) == {
        "UV_DEFAULT_INDEX": "A",
        "UV_INDEX": "B C",
        "UV_FIND_LINKS": "/x,/y",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_uv_variables_that_are_set_win() -> None:
    assert settings_for_uv({"index-url": "A"}, present={"UV_DEFAULT_INDEX": "own"}) == {}


def test_pip_files_and_variables_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_pip_config", lambda: "global.find-links='/w'\n:env:.index-url='X'\nlist.format='a'\n")
    monkeypatch.setattr(tool.os, "environ", {"PIP_INDEX_URL": "Y"})
    assert tool.pip_settings() == {"find-links": "/w", "index-url": "Y"}


@pytest.mark.parametrize(
    ("on_path", "modules", "name"),
    [
        ({"uv", "virtualenv"}, {"venv", "ensurepip"}, "uv"),
        ({"virtualenv"}, {"venv", "ensurepip"}, "venv"),
        (set(), {"venv", "virtualenv"}, "virtualenv"),  # Debian splits ensurepip off
        ({"virtualenv"}, {"venv"}, "virtualenv"),
    ],
)
def test_the_first_tool_is_used(
    monkeypatch: pytest.MonkeyPatch, on_path: set[str], modules: set[str], name: str
) -> None:
    monkeypatch.setattr(tool.shutil, "which", lambda program: program if program in on_path else None)
    monkeypatch.setattr(tool, "find_spec", lambda module: module if module in modules else None)
    assert find_tool().name == name


def test_no_tool_at_all_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool.shutil, "which", lambda _program: None)
    monkeypatch.setattr(tool, "find_spec", lambda module: module if module == "venv" else None)
    with pytest.raises(SetupError, match=rf"apt install python3\.{sys.version_info[1]}-venv"):
        find_tool()


@pytest.mark.parametrize("uv", ["/bin/uv", None])
def test_nothing_outside_a_lock_is_installed_or_run(monkeypatch: pytest.MonkeyPatch, uv: str | None) -> None:
    monkeypatch.setattr(tool.shutil, "which", lambda program: uv if program == "uv" else None)
    wheels, built = (" ".join(find_tool().install(Path("python"), Path("x.txt"), sources=it)) for it in (False, True))
    assert all("--no-deps --require-hashes" in words and words.endswith("-r x.txt") for words in (wheels, built))
    assert "--only-binary :all:" in wheels
    assert "--no-build-isolation" in built and "--only-binary" not in built
    assert "--seed" not in find_tool().create, "uv would fetch pip and check no hash"


def test_foreign_module_paths_and_a_ban_of_bytecode_stay_outside() -> None:
    env = {"PYTHONPATH": "/x", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/h"}
    assert clean_environment(env) == {"HOME": "/h"}


def test_uv_works_where_it_can_keep_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_pip_config", lambda: "")
    monkeypatch.setattr(tool.os, "environ", {"HOME": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "new" / "uv")})
    uv = tool.Tool("uv", ["uv", "venv"], "uv")
    assert "UV_NO_CACHE" not in uv.environment()
    monkeypatch.setattr(tool.os, "access", lambda path, mode: path != tmp_path)
    assert uv.environment()["UV_NO_CACHE"] == "1"
