"""A memory limit that the system enforces: the request, its check, and the message if it is refused."""

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.system import windows_jobs
from sapo_desktop.system.desktop import ceiling
from sapo_desktop.system.desktop.ceiling import Ceiling, limit_of, times_reached
from sapo_desktop.system.hardware import control_group, memory_quota
from sapo_desktop.system.presence.bus import NoBus
from tests.system.on_a_bus import needs_a_bus, plays

pytestmark = [
    pytest.mark.allowed_skip("control groups are what Linux has"),
    pytest.mark.skipif(sys.platform != "linux", reason="control groups are what Linux has"),
]
GIGABYTE = 10**9
PAGE = 2**16
"""Of some kernels on ARM, which keep limits in whole pages as all do."""


class Systemd:
    """Stands in for the user's manager, and for what the kernel then says in its files."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, slice: str = "/user.slice/app.slice") -> None:
        self.own, self.tree = folder / "cgroup", folder / "tree"
        self.own.write_text(f"4:memory:/elsewhere\n0::{slice}/terminal.scope\n")
        self.slice = slice
        self.asked: list[str] = []
        self.gone = False
        self.has_memory = self.moves = True
        patch.setattr(ceiling.bus, "call", self.call)
        patch.setattr(ceiling, "_SETTLE_SECONDS", 0.1)

    def call(self, bus: str, name: str, path: str, method: str, signature: str, body: tuple[Any, ...]) -> object:
        assert (bus, name, path) == ("SESSION", "org.freedesktop.systemd1", "/org/freedesktop/systemd1")
        if self.gone:
            raise NoBus("Nobody answers.")
        self.asked.append(method.rpartition(".")[2])
        values = dict(body[2])
        if "PIDs" in values:
            assert values["PIDs"] == ("au", [0]) and values["Delegate"] == ("b", True)
            if not self.moves:
                return ()
            self.own.write_text(f"4:memory:/elsewhere\n0::{self.slice}/{body[0]}\n")
        group = self.tree / control_group(self.own).lstrip("/")
        group.mkdir(parents=True, exist_ok=True)
        limit, swap = values["MemoryMax"][1], values["MemorySwapMax"][1]
        assert (limit == 2**64 - 1) == (swap == 2**64 - 1) and swap in (0, 2**64 - 1)
        if self.has_memory:
            (group / "memory.max").write_text("max\n" if limit == 2**64 - 1 else f"{limit // PAGE * PAGE}\n")
        return ()


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Systemd:
    return Systemd(tmp_path, monkeypatch)


def test_a_limit_comes_changes_and_goes_and_only_the_first_asks_for_new_processes(systemd: Systemd) -> None:
    held = Ceiling(systemd.own, systemd.tree)
    (systemd.tree / "user.slice").mkdir(parents=True)
    (systemd.tree / "user.slice/memory.max").write_text("9000000000\n")
    assert not held.follow(0) and not systemd.asked, "nothing was asked for"
    assert held.follow(4 * GIGABYTE) and not held.refused
    (limit,) = systemd.tree.glob("user.slice/*/**/memory.max")
    assert memory_quota(systemd.tree, systemd.own) == 9 * GIGABYTE, "what the user allows is no smaller computer"
    assert limit.read_text() == f"{limit_of(4 * GIGABYTE)}\n" and limit.parent.name.startswith("sapo-desktop-")
    assert not held.follow(4 * GIGABYTE) and not held.follow(2 * GIGABYTE) and not held.refused
    assert limit.read_text() == f"{limit_of(2 * GIGABYTE)}\n"
    assert not held.follow(0) and limit.read_text() == "max\n"
    assert not held.follow(8 * GIGABYTE) and limit.read_text() == f"{limit_of(8 * GIGABYTE)}\n", (
        "it is in the scope already"
    )
    assert systemd.asked == ["StartTransientUnit"] + ["SetUnitProperties"] * 3


def test_the_limit_lies_above_what_the_kind_watch_acts_at() -> None:
    assert limit_of(GIGABYTE) == pytest.approx(GIGABYTE + 400_000_000, abs=2**20)
    assert limit_of(10 * GIGABYTE) == pytest.approx(12_500_000_000, abs=2**20)


def test_what_the_kernel_does_not_have_is_not_claimed(systemd: Systemd) -> None:
    systemd.has_memory = False  # as where memory is in groups of version 1
    held = Ceiling(systemd.own, systemd.tree)
    assert not held.follow(GIGABYTE) and "but the kernel does not apply it" in str(held.refused)
    systemd.has_memory = True
    held.follow(2 * GIGABYTE)
    assert not held.refused


def test_where_the_move_took_too_long_the_next_limit_asks_for_new_processes(systemd: Systemd) -> None:
    systemd.moves = False
    held = Ceiling(systemd.own, systemd.tree)
    assert not held.follow(GIGABYTE) and "but the kernel does not apply it" in str(held.refused)
    systemd.own.write_text(f"0::{systemd.slice}/{held._scope}\n")
    assert not held.follow(0), "nothing is to be held"
    assert held.follow(2 * GIGABYTE) and not held.refused
    assert not held.follow(3 * GIGABYTE) and not held.refused
    assert systemd.asked == ["StartTransientUnit"] + ["SetUnitProperties"] * 3


def test_a_refusal_is_said_once_and_asked_again_with_another_limit(systemd: Systemd) -> None:
    systemd.gone = True
    held = Ceiling(systemd.own, systemd.tree)
    assert not held.follow(GIGABYTE) and str(held.refused) == "Nobody answers."
    systemd.gone = False
    assert not held.follow(GIGABYTE), "it is not asked again and again"
    assert held.follow(2 * GIGABYTE) and not held.refused


def test_a_service_of_the_system_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systemd = Systemd(tmp_path, monkeypatch, "/system.slice/sapo.service")
    held = Ceiling(systemd.own, systemd.tree)
    assert not held.follow(GIGABYTE) and "MemoryMax" in str(held.refused) and not systemd.asked


def test_only_a_limit_of_ours_counts_as_one_that_was_reached(systemd: Systemd) -> None:
    def reached() -> int:
        return times_reached(systemd.own, systemd.tree)

    assert reached() == 0
    Ceiling(systemd.own, systemd.tree).follow(GIGABYTE)
    assert reached() == 0, "the kernel tells nothing of it here"
    (limit,) = systemd.tree.glob("**/memory.max")
    limit.with_name("memory.events").write_text("low 0\nhigh 0\nmax 90\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert reached() == 3
    systemd.own.write_text("0::/user.slice/app.slice/sapo-lab.scope\n")
    assert reached() == 0


def test_the_job_of_windows_has_its_limit_next_to_what_ends_it() -> None:
    plain, bound = windows_jobs._limits(0), windows_jobs._limits(5 * GIGABYTE)
    assert (plain.BasicLimitInformation.LimitFlags, plain.JobMemoryLimit) == (0x2000, 0)
    assert (bound.BasicLimitInformation.LimitFlags, bound.JobMemoryLimit) == (0x2200, 5 * GIGABYTE)


def test_efficiency_mode_of_windows_is_set_and_left_to_the_system_again() -> None:
    on, off = windows_jobs._throttling(True), windows_jobs._throttling(False)
    assert (on.Version, on.ControlMask, on.StateMask) == (1, 1, 1)
    assert (off.Version, off.ControlMask, off.StateMask) == (1, 0, 0)


REAL_BUS = textwrap.dedent(
    """
    import pathlib, sys, threading
    from jeepney import new_error, new_method_return
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection
    from sapo_desktop.system.desktop.ceiling import Ceiling

    own, tree = pathlib.Path(sys.argv[1], "cgroup"), pathlib.Path(sys.argv[1], "tree")
    own.write_text("0::/user.slice/app.slice/terminal.scope")
    held = Ceiling(own, tree)
    held.follow(10**9)
    assert "systemd1 does not answer" in str(held.refused), held.refused

    serving = open_dbus_connection("SESSION")
    serving.send_and_get_reply(message_bus.RequestName("org.freedesktop.systemd1"))
    asked = []

    def serve():
        while True:
            call = serving.receive()
            member, signature = call.header.fields.get(3), call.header.fields.get(8)
            if member not in ("StartTransientUnit", "SetUnitProperties"):
                continue
            asked.append((member, signature))
            if len(asked) == 1:
                serving.send(new_error(call, "org.freedesktop.DBus.Error.AccessDenied", "s", ("Not you.",)))
                continue
            group = tree / "user.slice/app.slice" / call.body[0]
            group.mkdir(parents=True, exist_ok=True)
            own.write_text(f"0::/user.slice/app.slice/{call.body[0]}")
            (group / "memory.max").write_text(str(dict(call.body[2])["MemoryMax"][1]))
            answer = ("o", ("/job/1",)) if member == "StartTransientUnit" else ()
            serving.send(new_method_return(call, *answer))

    threading.Thread(target=serve, daemon=True).start()
    assert not held.follow(2 * 10**9) and "Not you." in str(held.refused), held.refused
    assert held.follow(3 * 10**9) and not held.refused, held.refused
    assert not held.follow(0) and not held.refused
    start, change = ("StartTransientUnit", "ssa(sv)a(sa(sv))"), ("SetUnitProperties", "sba(sv)")
    assert asked == [start, start, change], asked
    print("done")
    """
)


@needs_a_bus
def test_a_manager_on_a_bus_is_asked_as_its_interface_says(tmp_path: Path) -> None:
    plays(REAL_BUS, tmp_path, str(tmp_path))
