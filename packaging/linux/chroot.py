"""Tries the .deb on a Debian 12 without Python and compiler: `python packaging/linux/chroot.py DEB FOLDER`, as root.

    comes       apt installs it with its dependencies, without Python or a compiler
    answers     a user without any network gets the version, an answer, and the window (FOLDER/window.png)
    upgrades    a newer version is installed while that node runs: it keeps playing, ends on request, and a
                start of the newer version continues its rounds
    goes        `sapo-desktop-uninstall --delete` removes the user's part, apt the package; no file of either is left

FOLDER/root is that Debian. debootstrap makes it, and later runs use it again. The newer version is the package
itself with another number. Takes a few minutes and 2 GB. Needs debootstrap, Xvfb, imagemagick, iproute2 (on Debian:
apt-get install debootstrap xvfb imagemagick iproute2).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.display import a_display  # noqa: E402

TOOLS = {
    "debootstrap": "debootstrap",
    "Xvfb": "xvfb",
    "import": "imagemagick",
    "ip": "iproute2",
    "unshare": "util-linux",
}
USER = "volunteer"
HOME = f"/home/{USER}"
PROGRAM = "/usr/bin/sapo-desktop"
NEWER = "99.0"
PATIENCE = 600.0
"""Seconds, generous for a busy computer."""
UNWANTED = ("/usr/bin/python3*", "/usr/bin/cc", "/usr/bin/gcc*", "/usr/bin/c++")


class Debian:
    """The small system, and how to run programs in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def provide(self, mirror: str | None) -> None:
        """Create it, unless an earlier run did. `mirror`: the source of its packages; None: debootstrap's own
        choice."""
        if not (self.root / "etc" / "debian_version").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            run("debootstrap", "--variant=minbase", "bookworm", self.root, *([mirror] if mirror else []))
        (self.root / "etc" / "dpkg" / "dpkg.cfg.d" / "fast").write_text("force-unsafe-io\n")  # nobody keeps this
        if (self.root / "usr" / "lib" / "sapo-desktop").exists():  # a run that was cut off
            self.as_root("dpkg", "--purge", "sapo-desktop")
        if (self.root / HOME.lstrip("/")).exists():
            self.as_root("userdel", "--remove", USER)
        self.as_root("useradd", "--create-home", "--shell", "/bin/sh", USER)

    @contextlib.contextmanager
    def mounted(self) -> Iterator[None]:
        """The system with what programs expect of a running one, and with this computer's screens."""
        places = [(Path("/proc"), "proc"), (Path("/dev"), "dev"), (Path("/tmp/.X11-unix"), "tmp/.X11-unix")]
        with contextlib.ExitStack() as stack:
            for source, name in places:
                target = self.root / name
                target.mkdir(parents=True, exist_ok=True)
                run("mount", "--rbind", "--make-rslave", source, target)
                stack.callback(run, "umount", "--recursive", "--lazy", target)
            yield

    def as_root(self, *line: object) -> str:
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return run("chroot", self.root, *line, env=env)

    def offline(self, *line: object) -> list[str]:
        """The command line of a user's program, with no network but loopback."""
        inside = ["/usr/sbin/chroot", f"--userspec={USER}:{USER}", str(self.root), *map(str, line)]
        return ["unshare", "--net", "sh", "-c", '/sbin/ip link set lo up && exec "$@"', "-", *inside]

    def as_user(self, *line: object, **env: str) -> str:
        return run(*self.offline(*line), env=users_environment(**env))

    def start(self, *line: object, out: Path | None = None, **env: str) -> subprocess.Popen[bytes]:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(out.open("wb")) if out else None
            return subprocess.Popen(self.offline(*line), env=users_environment(**env), stdout=file)

    def files(self) -> set[str]:
        """Every path that does not belong to the running system."""
        out = run("find", self.root, "-xdev", "-name", "*sapo*", "-not", "-path", "*/.X11-unix/*")
        return {line.removeprefix(str(self.root)) for line in out.splitlines()}


def users_environment(**more: str) -> dict[str, str]:
    return {"HOME": HOME, "USER": USER, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **more}


def run(*line: object, env: dict[str, str] | None = None) -> str:
    """The output of a command; if it fails, ends this process with that output."""
    words = [str(word) for word in line]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def wait_for(what: str, there: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not there():
        if time.monotonic() > until:
            sys.exit(f"Timed out after {PATIENCE:.0f} seconds: {what}.")
        time.sleep(0.5)


def check(right: bool, otherwise: str) -> None:
    if not right:
        sys.exit(otherwise)


def comes(debian: Debian, deb: Path) -> None:
    shutil.copyfile(deb, debian.root / "tmp" / "a.deb")
    debian.as_root("apt-get", "-q", "-y", "--no-install-recommends", "install", "/tmp/a.deb")
    found = [path for pattern in UNWANTED for path in debian.root.glob(pattern.lstrip("/"))]
    check(not found, f"This Debian has what it should not have: {found}")


def answers(debian: Debian, screenshot: Path) -> None:
    check(debian.as_user(PROGRAM, "--version").startswith("sapo-desktop "), "It does not say its version.")
    check(debian.as_user(PROGRAM, "ask", "What is 17 + 25?").strip() not in ("", "(nothing)"), "It does not answer.")
    log = debian.root / f"{HOME}/.local/share/sapo-desktop/logs/worker.log".lstrip("/")
    before = log.stat().st_size
    with a_display() as display:
        shown = {name: display[name] for name in ("DISPLAY", "QT_QPA_PLATFORM")}
        window = debian.start(PROGRAM, **shown)
        wait_for("the window has started its node", lambda: window.poll() is not None or log.stat().st_size > before)
        time.sleep(10)  # until everything is drawn
        check(window.poll() is None, "The window ended by itself.")
        run("import", "-window", "root", screenshot, env={**os.environ, "DISPLAY": display["DISPLAY"]})
        window.send_signal(signal.SIGTERM)
        check(window.wait(PATIENCE) == 0, "The window did not end well.")
    colours = run("identify", "-format", "%k", screenshot)
    check(int(colours) > 100, f"{screenshot} has {colours} colours: no window was there.")


def upgrades(debian: Debian, deb: Path, scratch: Path) -> None:
    newer = make_newer(deb, scratch)
    out = scratch / "rounds.jsonl"
    node = debian.start(PROGRAM, "--json", "run", "--silo", "--rounds", "100000", out=out)
    try:
        wait_for("two rounds", lambda: node.poll() is not None or len(rounds(out)) >= 2)
        shutil.copyfile(newer, debian.root / "tmp" / "b.deb")
        debian.as_root("dpkg", "--install", "/tmp/b.deb")
        check(NEWER in debian.as_user(PROGRAM, "--version"), "The newer version is not there.")
        before = len(rounds(out))
        wait_for("three rounds more", lambda: node.poll() is not None or len(rounds(out)) >= before + 3)
        check(node.poll() is None, "The node ended when it was upgraded.")
    finally:
        node.send_signal(signal.SIGINT)
        code = node.wait(PATIENCE)
    check(code == 0, f"The upgraded node ended with {code}.")
    last = rounds(out)[-1]
    again = debian.as_user(PROGRAM, "--json", "run", "--silo", "--rounds", "1")
    start = next(event for event in map(json.loads, again.splitlines()) if event["event"] == "start")
    check(start["round"] == last and start["version"] == NEWER, f"After round {last} the newer version begins: {start}")
    print(f"Upgraded at round {before}, continued to {last}; the newer version continues from there.")


def rounds(out: Path) -> list[int]:
    """The rounds in a node's output."""
    lines = out.read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines if line.endswith("}")]
    return [event["round"] for event in events if event["event"] == "round"]


def make_newer(deb: Path, scratch: Path) -> Path:
    """The same package with another number."""
    tree, newer = scratch / "newer", scratch / "newer.deb"
    shutil.rmtree(tree, ignore_errors=True)
    run("dpkg-deb", "-R", deb, tree)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {NEWER}", control.read_text()))
    package = tree / "usr" / "lib" / "sapo-desktop" / "app" / "sapo_desktop"
    module = package / "__init__.py"
    text, count = re.subn(r'(?m)^__version__ = ".*"$', f'__version__ = "{NEWER}"', module.read_text())
    check(count == 1, f"{module} names no version.")
    module.write_text(text)
    (package / "__pycache__" / "__init__.cpython-311.pyc").unlink()  # never compared with its source
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, newer)
    shutil.rmtree(tree)
    return newer


def goes(debian: Debian, before: set[str]) -> None:
    said = debian.as_user("/usr/bin/sapo-desktop-uninstall", "--delete")
    check("history are gone" in said, said)
    debian.as_root("apt-get", "-q", "-y", "purge", "sapo-desktop")
    for name in ("a.deb", "b.deb"):
        (debian.root / "tmp" / name).unlink()
    left = {path for path in debian.files() - before if f"{HOME}/.cache" not in path}
    check(not left, f"Left behind: {sorted(left)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the .deb on a small Debian without Python and compiler.")
    parser.add_argument("deb", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mirror", help="address of Debian's packages (default: debootstrap's)")
    given = parser.parse_args()
    if missing := sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None}):
        sys.exit(f"apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("Only root can use another root folder: run this as root.")
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    debian = Debian(folder / "root")
    debian.provide(given.mirror)
    before = debian.files()
    with debian.mounted():
        for title, step in (
            ("comes", lambda: comes(debian, given.deb)),
            ("answers", lambda: answers(debian, folder / "window.png")),
            ("upgrades", lambda: upgrades(debian, given.deb, folder)),
            ("goes", lambda: goes(debian, before)),
        ):
            began = time.monotonic()
            step()
            print(f"{title}: passed ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
