"""The engine pack: what it consists of, and how it comes, by real pip, from a mirror, through a proxy, from a stick."""

import http.server
import io
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from installers import engine_pack
from installers.flavour import FLAVOURS, choose
from installers.trouble import SetupError

from .conftest import ROOT, write_wheel

BUILD = "2.13.0+cpu"
TORCH = """
class Numbers:
    def matmul(self, other): return self
    def sum(self): return 8
def ones(*shape): return Numbers()
"""


def test_application_and_pack_are_the_whole_lock() -> None:
    for flavour in FLAVOURS.values():
        lock = engine_pack.entries(engine_pack.REQUIREMENTS / f"{flavour.name}.txt")
        pack = engine_pack.of_pack(flavour)
        application = engine_pack.of_application(flavour.name.replace("cuda", "cpu"))
        assert {"torch", "peft", "accelerate"} <= set(pack) and "keyring" in application
        assert set(lock) | {"torch"} == set(pack) | (set(lock) & set(application))
        assert all("--hash=sha256:" in lines for lines in pack.values())
        assert "torch" not in application and "transformers" in application
    assert "pywin32-ctypes" in engine_pack.of_application("win-cpu")
    assert "nvidia-cublas" in engine_pack.of_pack(FLAVOURS["linux-cuda"])
    assert len({engine_pack.fingerprint(flavour) for flavour in FLAVOURS.values()}) == len(FLAVOURS)


def test_too_little_disk_is_said_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pack.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 5))
    out = io.StringIO()
    with pytest.raises(SetupError, match="Make room there"):
        engine_pack.install(tmp_path / "engine", FLAVOURS["linux-cpu"], out)
    assert "195 MB over the network" in out.getvalue() and "GB of disk" in out.getvalue()
    assert not (tmp_path / "engine" / "downloads").exists()


class Index(http.server.ThreadingHTTPServer):
    """A package index of a folder of wheels, which also plays the proxy in front of one."""

    def __init__(self, wheels: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.wheels = wheels
        self.asked: list[str] = []
        self.stuck = threading.Event()
        """Set once somebody waits for a wheel that `holds` names."""
        self.holds = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        path = self.path.split("#")[0].removeprefix("http://packages.invalid")
        name = path.rstrip("/").rpartition("/")[2]
        if path.startswith("/simple/"):
            links = [wheel.name for wheel in self.server.wheels.glob(f"{name}-*.whl")]
            body = "".join(f'<a href="/wheels/{link}">{link}</a>' for link in links).encode()
        else:
            body = (self.server.wheels / name.replace("%2B", "+")).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if path.startswith("/simple/") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.holds and name.startswith(self.server.holds):
            self.wfile.write(body[:50])
            self.wfile.flush()
            self.server.stuck.set()
            self.rfile.read(1)  # until the other end goes
            return
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent."""


class Application:
    """An installed application in miniature, under a path with blanks and umlauts, and its package index."""

    def __init__(self, folder: Path, index: Index) -> None:
        self.root = folder / "Größe & Übung" / "app"
        self.engine = folder / "Jürgens Daten" / "engine"
        self.index = index
        self.kind = choose(platform.system(), platform.machine())
        requirements = self.root / "packaging" / "requirements"
        requirements.mkdir(parents=True)
        shutil.copytree(ROOT / "installers", self.root / "installers", ignore=shutil.ignore_patterns("__pycache__"))
        self.write_torch()
        lines = [f"tiny==1.0 \\\n    --hash=sha256:{'0' * 64}\n"]
        lines += [f"{name}==1.0 \\\n    --hash=sha256:{self.write(name)}\n" for name in ("accelerate", "peft")]
        for name in {"linux-cpu", self.kind.name}:
            (requirements / f"{name}.txt").write_text("# a lock\n" + "".join(lines))
        self.env = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "PIP_INDEX_URL": f"{index.url}/simple/",
            "PIP_CONFIG_FILE": os.devnull,
        }

    def write(self, name: str, code: str = "", version: str = "1.0") -> str:
        return write_wheel(self.index.wheels, name, version, code)

    def write_torch(self, code: str = TORCH) -> None:
        """A wheel of it, and the lock that pins it."""
        lock = self.root / "packaging" / "requirements" / f"{self.kind.torch_lock or 'torch'}.txt"
        lock.write_text(f"# a lock\ntorch=={BUILD} \\\n    --hash=sha256:{self.write('torch', code, BUILD)}\n")

    def command(self, what: str, *words: str) -> list[str]:
        return [sys.executable, "-m", "installers.engine_pack", what, *words]

    def run(self, what: str = "install", *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        line = self.command(what, *(words or (str(self.engine),)))
        return subprocess.run(line, cwd=self.root, env=self.env | env, capture_output=True, text=True, timeout=300)

    @property
    def whole(self) -> bool:
        return (self.engine / "packages" / engine_pack.STAMP).exists() and not (self.engine / "downloads").exists()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    (tmp_path / "wheels").mkdir()
    with Index(tmp_path / "wheels") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def application(tmp_path: Path, index: Index) -> Application:
    return Application(tmp_path, index)


pytestmark_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are stopped by signals")


@pytest.mark.slow
@pytestmark_linux
def test_a_stopped_fetch_goes_on_where_it_was(application: Application, index: Index) -> None:
    index.holds = "peft"
    line = application.command("install", str(application.engine))
    cut = subprocess.Popen(
        line,
        cwd=application.root,
        env=application.env,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # In the background of a shell, tests inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert index.stuck.wait(120)
    os.killpg(cut.pid, signal.SIGINT)
    assert cut.stderr is not None and "The same command continues from here" in cut.stderr.read()
    assert cut.wait() == 1 and not (application.engine / "packages").exists()
    before = [path for path in index.asked if path.endswith(".whl")]
    index.holds = ""
    done = application.run()
    assert done.returncode == 0 and application.whole, done.stderr
    again = [path for path in index.asked if path.endswith(".whl")][len(before) :]
    assert [Path(path).name.partition("-")[0] for path in again] == ["peft"], "whole ones are not fetched twice"
    assert "[5/5] Trying it: done" in done.stderr


@pytest.mark.slow
@pytestmark_linux
def test_trouble_is_said_and_leaves_what_was_there(application: Application, index: Index) -> None:
    nowhere = application.run(PIP_INDEX_URL="http://127.0.0.1:9/simple/", PIP_RETRIES="1")
    assert nowhere.returncode == 1 and "package index could not be reached" in nowhere.stderr
    assert application.run().returncode == 0 and application.whole

    peft = index.wheels / "peft-1.0-py3-none-any.whl"
    good = peft.read_bytes()
    peft.write_bytes(b"of somebody else")
    other = application.run()
    assert other.returncode == 1 and "its hash differs" in other.stderr and application.whole is False
    assert (application.engine / "packages" / "peft.py").exists(), "the pack from before is kept"

    peft.write_bytes(good)
    shutil.rmtree(application.engine / "downloads")
    application.write_torch("raise ImportError('no such instruction')")
    broken = application.run()
    assert broken.returncode == 1 and "does not run on this computer" in broken.stderr
    assert "no such instruction" in broken.stderr

    shutil.rmtree(application.engine / "downloads")
    application.write_torch()
    assert application.run().returncode == 0 and application.whole, "repaired by the same command"
    assert application.run("remove").returncode == 0 and not application.engine.exists()


@pytest.mark.slow
@pytestmark_linux
@pytest.mark.skipif(choose(platform.system(), platform.machine()).plain is None, reason="there is no other build")
def test_without_its_build_of_torch_the_plain_one_is_fetched(application: Application, index: Index) -> None:
    next(index.wheels.glob("torch-*.whl")).unlink()
    plain = application.root / "packaging" / "requirements" / f"{application.kind.plain}.txt"
    lines = f"torch==2.13.0 \\\n    --hash=sha256:{application.write('torch', TORCH, '2.13.0')}\n"
    plain.write_text(plain.with_name(f"{application.kind.name}.txt").read_text() + lines)
    done = application.run(HTTPS_PROXY="http://127.0.0.1:9", PIP_RETRIES="0")  # PyTorch's own index is out of reach
    assert done.returncode == 0 and application.whole, done.stderr
    assert "asking PyTorch's own index" in done.stderr and "GB to download" in done.stderr
    stamp = (application.engine / "packages" / engine_pack.STAMP).read_text()
    assert f'"{application.kind.plain}"' in stamp


@pytest.mark.slow
@pytestmark_linux
def test_it_comes_through_a_proxy_and_from_a_stick(application: Application, index: Index, tmp_path: Path) -> None:
    stick = tmp_path / "Stick für Ömer"
    proxied = application.run(
        "fetch",
        str(stick),
        PIP_INDEX_URL="http://packages.invalid/simple/",
        HTTP_PROXY=index.url,
        PIP_TRUSTED_HOST="packages.invalid",
    )
    assert proxied.returncode == 0, proxied.stderr
    assert index.asked and all(path.startswith("http://packages.invalid/") for path in index.asked)
    asked = len(index.asked)
    done = application.run("install", str(application.engine), "--from", str(stick))
    assert done.returncode == 0 and application.whole, done.stderr
    assert len(index.asked) == asked, "from a stick nobody is asked"
    assert f"from {stick}" in done.stderr


def test_it_stops_with_the_process_that_started_it() -> None:
    """A window that is killed would leave it at work, out of everybody's reach."""
    waits = """
import sys, threading
from installers import engine_pack

def install(*given):
    print("at work", flush=True)
    while True:
        threading.Event().wait(0.02)

engine_pack.install = install
sys.exit(engine_pack.main(["install", "somewhere", "--started"]))
"""
    started = subprocess.Popen(
        [sys.executable, "-c", waits], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert started.stdout is not None and started.stdout.readline() == "at work\n"
    _, said = started.communicate()  # which lets go of its standard input
    assert started.returncode == 1 and "continues from here" in said


@pytest.mark.slow
@pytestmark_linux
@pytest.mark.allowed_skip("a small disk can be mounted by root only")
def test_a_disk_that_fills_up_is_said(application: Application) -> None:
    application.engine.mkdir(parents=True)
    disk = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(application.engine)]
    if subprocess.run(disk, capture_output=True).returncode != 0:
        pytest.skip("mount is for root")
    try:
        application.write_torch("# " + os.urandom(400_000).hex())
        line = (
            "import installers.engine_pack as e, sys; e.check_space = lambda *a: None; sys.exit(e.main(sys.argv[1:]))"
        )
        full = subprocess.run(
            [sys.executable, "-c", line, "install", str(application.engine)],
            cwd=application.root, env=application.env, capture_output=True, text=True,
        )  # fmt: skip
        assert full.returncode == 1 and "The disk is full" in full.stderr, full.stderr
    finally:
        subprocess.run(["umount", str(application.engine)], check=True)


@pytest.mark.parametrize("forbidden", ["1", ""])
def test_an_installed_program_that_forbids_bytecode_is_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forbidden: str
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", forbidden)
    monkeypatch.setenv("PYTHONPATH", "/x")
    env = engine_pack._environment(tmp_path / "engine")
    assert env.get("PYTHONDONTWRITEBYTECODE", "") == forbidden
    assert "PYTHONPATH" not in env
