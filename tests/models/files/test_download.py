"""Downloads from a hub on this machine, which misbehaves in every way that a real one, or the way to it, does."""

import hashlib
import json
import os
import shutil
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import AccessRefused, DownloadError, ModelError, NoRoom
from sapo_desktop.core.models import Access, Kept, ModelSpec, Transfer
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.models.files.check import free_space
from sapo_desktop.models.files.download import download
from sapo_desktop.models.files.hub import Bar
from sapo_desktop.models.files.store import Store
from tests.models.hub_server import FakeHub, Fault, Place, Repo, running_hub, with_a_network
from tests.models.small_models import gguf, transformers_files

REPO = "someone/small"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running_hub() as server:
        server.repos[REPO] = Repo(transformers_files(), {"model.safetensors"})
        yield server


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # many small files; durability is tested elsewhere
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # the library waits between its own tries
    with_a_network(monkeypatch)
    return home


class Downloads:
    """Downloads to one folder, and what was reported."""

    def __init__(self, folder: Path, hub: FakeHub) -> None:
        self.folder = folder
        self.hub = hub
        self.reports: list[Transfer] = []
        self.waits: list[float] = []
        self.free: Callable[[Path], int] = free_space

    def __call__(
        self, spec: ModelSpec | None = None, token: str | None = None, endpoint: str = "", proxy: str = ""
    ) -> Kept:
        spec = spec or ModelSpec(name="small", repository=REPO, revision="main")
        access = Access(endpoint=endpoint or self.hub.endpoint, token=token, proxy=proxy)
        self.reports.clear()
        return download(Store(self.folder), spec, access, self.reports.append, free=self.free, sleep=self.waits.append)

    def content(self, name: str, model: str = "small") -> bytes:
        return (self.folder / model / name).read_bytes()

    def ranges(self) -> list[str | None]:
        return [asked.headers.get("range") for asked in self.hub.asked if asked.place == "cdn"]

    @property
    def weights(self) -> bytes:
        return self.hub.repos[REPO].files["model.safetensors"]

    def parts(self) -> list[Path]:
        """What is left of an unfinished file of weights."""
        return [path for path in (self.folder / ".partial").rglob("*") if path.is_file() and self._is_part(path)]

    def _is_part(self, path: Path) -> bool:
        return path.name.endswith(".incomplete") or path.stat().st_size > 50_000


@pytest.fixture
def get(tmp_path: Path, hub: FakeHub) -> Downloads:
    return Downloads(tmp_path / "models", hub)


def is_monotone(reports: list[Transfer]) -> bool:
    done = [report.done for report in reports]
    return done == sorted(done)


# -- a good line -----------------------------------------------------------------------------------------------


def test_a_model_arrives_whole_with_its_manifest(get: Downloads, hub: FakeHub) -> None:
    kept = get()
    assert get.content("model.safetensors") == get.weights
    assert kept.model.revision == hub.repos[REPO].commit and kept.model.kind == "transformers"
    found = Store(get.folder).read("small")
    assert found == kept.model and found.bytes == sum(len(content) for content in hub.repos[REPO].files.values())
    assert found.files["model.safetensors"].sha256 == hashlib.sha256(get.weights).hexdigest()
    assert is_monotone(get.reports) and get.reports[-1].done == get.reports[-1].total == found.bytes
    assert not (get.folder / ".partial" / "small").exists()


def test_a_pinned_model_comes_at_its_commit_and_no_other(get: Downloads, hub: FakeHub) -> None:
    commit = hub.repos[REPO].commit
    assert get(ModelSpec(name="small", repository=REPO, revision=commit)).model.revision == commit
    other = ModelSpec(name="other", repository=REPO, revision="d" * 40)
    with pytest.raises(DownloadError, match=f"no revision {'d' * 40}"):
        get(other)
    hub.repos["someone/mirror"] = Repo(hub.repos[REPO].files, set(), commit="e" * 40, answers_to="d" * 40)
    with pytest.raises(DownloadError, match=f"answers with commit {'e' * 40}"):
        get(msgspec.structs.replace(other, repository="someone/mirror"))


def test_an_installed_model_is_not_fetched_again(get: Downloads, hub: FakeHub) -> None:
    get()
    asked = len(hub.asked)
    assert list(map(str, get().notes)) == ["It was installed already."]
    assert len(hub.asked) == asked


def test_the_same_model_under_another_name_is_not_fetched_again(get: Downloads, hub: FakeHub) -> None:
    get(ModelSpec(name="someone--small", repository=REPO, revision="main"))
    asked = len(hub.asked)
    again = get(ModelSpec(name="small", repository=REPO))
    assert again.model.name == "someone--small" and again.path == str(get.folder / "someone--small")
    assert len(hub.asked) == asked
    one = ModelSpec(name="config", repository=REPO, only=sorted(set(hub.repos[REPO].files) - {"README.md"}))
    assert get(one).model.name == "config", "a choice of files is another model"


def test_nothing_is_asked_but_what_a_download_needs(get: Downloads, hub: FakeHub, own_home: Path) -> None:
    get(token="hf_secret")
    assert hub.count("other") == 0  # no telemetry, no update check, no xet
    assert [asked.headers.get("authorization") for asked in hub.asked if asked.place == "cdn"] == [None]
    assert all(asked.headers["authorization"] == "Bearer hf_secret" for asked in hub.asked if asked.place != "cdn")
    assert {asked.headers["user-agent"].partition("/")[0] for asked in hub.asked} == {"sapo-desktop"}
    assert list(own_home.iterdir()) == []


def test_redirects_within_the_hub_are_followed_with_the_token(get: Downloads, hub: FakeHub) -> None:
    repo = hub.repos[REPO]
    repo.own_host, repo.token = True, "hf_secret"
    hub.repos["old/name"] = Repo(repo.files, repo.large, token="hf_secret", renamed=REPO)
    get(ModelSpec(name="small", repository="old/name", revision="main"), token="hf_secret")
    assert get.content("model.safetensors") == get.weights
    assert [asked.headers.get("authorization") for asked in hub.asked if asked.place == "cdn"] == [None]


def test_the_way_may_lead_through_a_proxy(get: Downloads, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", hub.endpoint)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    get(endpoint="http://hub.example")
    assert get.content("model.safetensors") == get.weights
    assert all(asked.path.startswith("http://hub.example/") for asked in hub.asked if asked.place != "cdn")


@pytest.mark.parametrize(
    ("variable", "scheme", "said"),
    [
        ("ALL_PROXY", "socks5", "The proxy socks5h://127.0.0.1:9 (the environment's ALL_PROXY)"),
        ("HTTPS_PROXY", "http", "The proxy http://127.0.0.1:9 (the environment's HTTPS_PROXY)"),
        ("HTTPS_PROXY", "ftp", "The environment's HTTPS_PROXY cannot be used"),
    ],
)
def test_a_proxy_that_is_away_is_named_without_its_login(
    get: Downloads, monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str, said: str
) -> None:
    monkeypatch.setenv(variable, f"{scheme}://user:s3cret@127.0.0.1:9")
    with pytest.raises(DownloadError) as failed:
        get(endpoint="https://hub.example")
    assert said in str(failed.value) and "s3cret" not in str(failed.value)


class Refusing(socketserver.BaseRequestHandler):
    """A proxy that connects to nobody."""

    status = "403 Forbidden"

    def handle(self) -> None:
        self.request.recv(4000)
        self.request.sendall(f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\n\r\n".encode())


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://user:s3cret@127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("scheme", "status", "said"),
    [
        ("https", "407 Proxy Authentication Required", "user name and a password"),
        ("http", "407 Proxy Authentication Required", "user name and a password"),
        ("https", "403 Forbidden", "does not connect to hub.example: HTTP 403"),
    ],
)
def test_a_proxys_refusal_is_not_the_hubs(
    get: Downloads, monkeypatch: pytest.MonkeyPatch, refusing: str, scheme: str, status: str, said: str
) -> None:
    monkeypatch.setattr(Refusing, "status", status)
    monkeypatch.setenv(f"{scheme}_proxy", refusing)
    with pytest.raises(DownloadError) as failed:
        get(endpoint=f"{scheme}://hub.example")
    words = str(failed.value)
    assert said in words and f"the environment's {scheme.upper()}_PROXY" in words and "s3cret" not in words
    assert get.waits == [], "to ask again changes nothing"


def test_the_setting_holds_for_downloads(get: Downloads, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    get(endpoint="http://hub.example", proxy=hub.endpoint)
    assert get.content("model.safetensors") == get.weights


def test_a_gguf_model_that_only_answers_comes_with_a_word_about_it(get: Downloads, hub: FakeHub) -> None:
    file = gguf({"general.architecture": "gemma3"})
    hub.repos[REPO] = Repo({"small-q8_0.gguf": file, "README.md": b"# GGUF"}, {"small-q8_0.gguf"})
    kept = get()
    assert kept.model.kind == "gguf" and "not learn" in str(kept.notes[0])


def test_one_of_several_gguf_files_has_to_be_named(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO] = Repo({"s-q4_0.gguf": gguf(), "s-q8_0.gguf": gguf(rows=32)}, set())
    with pytest.raises(ModelError, match=r"them: s-q4_0.gguf, s-q8_0.gguf\. In a terminal: .* --file NAME"):
        get()
    spec = ModelSpec(name="q4", repository=REPO, revision="main", only=["s-q4_0.gguf"])
    assert list(get(spec).model.files) == ["s-q4_0.gguf"]


# -- a bad line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "fault", "times"),
    [
        ("listing", Fault(status=503), 1),
        ("listing", Fault(cut_after=10), 1),
        ("head", Fault(status=500), 12),
        ("file", Fault(cut_after=3), 1),
        ("cdn", Fault(status=502), 1),
        ("cdn", Fault(cut_after=0), 1),
        ("cdn", Fault(cut_after=70_000), 1),
        ("cdn", Fault(cut_after=70_000), 9),
        ("cdn", Fault(chop=5000), 1),
        ("cdn", Fault(extra=b"x" * 100), 1),
        ("cdn", Fault(whole=True, cut_after=70_000), 3),
    ],
)
def test_a_passing_trouble_is_tried_again(get: Downloads, hub: FakeHub, place: Place, fault: Fault, times: int) -> None:
    hub.plan(place, fault, times)
    get()
    assert get.content("model.safetensors") == get.weights and is_monotone(get.reports)
    if get.waits:
        assert any(report.stage == "waiting" and "Trying again" in str(report.text) for report in get.reports)


def test_a_file_goes_on_where_the_line_broke(get: Downloads, hub: FakeHub) -> None:
    hub.plan("cdn", Fault(cut_after=90_000))
    get()
    assert len(get.ranges()) == 2 and get.ranges()[0] is None and get.ranges()[1] is not None
    assert get.content("model.safetensors") == get.weights and get.waits == []


def test_a_dead_line_is_given_up_and_whole_files_are_kept(get: Downloads, hub: FakeHub) -> None:
    hub.plan("cdn", Fault(status=503), times=100)
    with pytest.raises(DownloadError, match=r"after 8 tries.* kept, so try again later"):
        get()
    assert sum(get.waits) > 100 and get.parts() == []
    hub._plans.clear()
    small = hub.count("file")
    get()
    assert hub.count("file") == small, "the small files were here"
    assert get.content("model.safetensors") == get.weights


def test_parts_that_a_kill_left_are_deleted(get: Downloads, hub: FakeHub) -> None:
    hub.plan("listing", Fault(status=404))
    left = get.folder / ".partial" / "small" / "hub" / "models--someone--small" / "blobs" / "abc.12345678.incomplete"
    left.parent.mkdir(parents=True)
    left.write_bytes(bytes(100))
    hub._plans.clear()
    hub.plan("cdn", Fault(status=404))
    with pytest.raises(DownloadError):
        get()
    assert not left.exists()


def test_a_rate_holds_and_may_change_on_the_way(get: Downloads, hub: FakeHub) -> None:
    pace, steps = Pace(1.0), list[int]()

    def between() -> None:
        steps.append(1)
        if len(steps) == 3:
            pace.rate = 0.0

    spec = ModelSpec(name="small", repository=REPO, revision="main")
    access = Access(endpoint=hub.endpoint, most_bytes=1)
    download(Store(get.folder), spec, access, get.reports.append, pace=pace, between=between)
    assert pace.passed == Store(get.folder).read("small").bytes and len(steps) >= 5


def test_xet_counts_the_bytes_of_the_file_once() -> None:
    from huggingface_hub.utils._xet_progress_reporting import XetDownloadProgressReporter

    arrived: list[int] = []
    bar: Any = type("OneBar", (Bar,), {"arrived": staticmethod(arrived.append)})
    report: Any = SimpleNamespace(
        total_bytes=100,
        total_bytes_completed=60,
        total_transfer_bytes_completed=40,
        total_bytes_completion_rate=1.0,
        total_transfer_bytes_completion_rate=1.0,
    )
    words: Any = {"reconstruction_desc": "file", "total": 100, "log_level": 30}
    with XetDownloadProgressReporter(**words, tqdm_class=bar) as reporter:
        reporter.update_progress(report, {})
    assert sum(arrived) == 60


# -- wrong bytes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "name"), [("cdn", "model.safetensors"), ("file", "README.md")])
def test_wrong_bytes_are_thrown_away_and_said(get: Downloads, hub: FakeHub, place: Place, name: str) -> None:
    hub.plan(place, Fault(flip=1))
    with pytest.raises(DownloadError, match=rf"{name} has an unexpected SHA-256 .* was deleted"):
        get()
    assert not (get.folder / "small").exists()
    get()
    assert get.content(name) == hub.repos[REPO].files[name]


def test_unknown_hashes_are_fixed_at_the_first_download(get: Downloads, hub: FakeHub) -> None:
    get()
    Store(get.folder).remove("small")
    repo = hub.repos[REPO]
    repo.files = repo.files | {"README.md": b"# B model\n"}  # another content under the same commit
    with pytest.raises(DownloadError, match=r"README.md has an unexpected SHA-256"):
        get()
    repo.files = transformers_files() | {"model.safetensors": transformers_files(40_000)["model.safetensors"]}
    with pytest.raises(DownloadError, match=r"downloaded here on 2"):
        get()


def test_a_model_without_a_pinned_revision_stays_at_the_first_one(get: Downloads, hub: FakeHub) -> None:
    spec = ModelSpec(name="small", repository=REPO)
    first = get(spec).model.revision
    Store(get.folder).remove("small")
    hub.repos[REPO].commit = "d" * 40
    with pytest.raises(DownloadError, match=f"has no revision {first}"):
        get(spec)
    assert get().model.revision == "d" * 40, "who names the branch gets the newest"


def test_a_quantisation_names_the_file(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO] = Repo({"s-q4_k.gguf": gguf(), "s-q4_k_m.gguf": gguf(rows=32)}, set())
    spec = ModelSpec(name="small", repository=REPO, quantisation="Q4_K")
    assert list(get(spec).model.files) == ["s-q4_k.gguf"]


# -- who may ----------------------------------------------------------------------------------------------------


def test_a_gated_model_says_where_to_accept_its_licence(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].token = "hf_right"
    with pytest.raises(AccessRefused, match=rf"gated. Sign in at {hub.endpoint}/{REPO}, .*models token set"):
        get()
    with pytest.raises(AccessRefused, match=f"Accept its licence at {hub.endpoint}/{REPO} with your token's account"):
        get(token="hf_wrong")
    get(token="hf_right")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (ModelSpec(name="x", repository="someone/none", revision="main"), "It is private or gated"),
        (ModelSpec(name="x", repository=REPO, revision="v9"), "has no revision v9"),
        (ModelSpec(name="x", repository="../etc", revision="main"), "' is not a repository"),
        (ModelSpec(name="x", repository=REPO, revision="../x"), "has no revision"),
        (ModelSpec(name="x", repository=REPO, revision="main", only=["y.gguf"]), "no file y.gguf"),
    ],
)
def test_what_is_not_there_is_said(get: Downloads, spec: ModelSpec, said: str) -> None:
    with pytest.raises((DownloadError, ModelError), match=said):
        get(spec)


@pytest.mark.parametrize(
    "endpoint",
    [
        *("ftp://host", "https://", "https://user:word@host", "nonsense", "http://[::zz]", "http://[host"),
        *("http://host:99999", "http://host:abc", "http://ho\x00st", "http://ho\nst", "http://host/\x7f"),
    ],
)
def test_an_endpoint_is_an_address(get: Downloads, endpoint: str) -> None:
    with pytest.raises(DownloadError, match="' is not the address of a hub"):
        get(endpoint=endpoint)


def test_a_token_does_not_travel_in_the_open(get: Downloads) -> None:
    with pytest.raises(DownloadError, match="not encrypted"):
        get(endpoint="http://192.0.2.1", token="hf_secret")


def test_what_is_no_hub_is_said(get: Downloads, hub: FakeHub) -> None:
    hub.plan("listing", Fault(extra=b"<html>"))
    with pytest.raises(DownloadError, match="does not answer like a hub"):
        get()
    hub.plan("head", Fault(headers={"X-Repo-Commit": ""}))
    with pytest.raises(DownloadError, match="does not answer like a hub"):
        get()
    hub.plan("head", Fault(status=302, headers={"Location": "file:///etc/passwd", "X-Repo-Commit": ""}))
    with pytest.raises(DownloadError, match="does not answer like a hub"):
        get()
    hub.plan("head", Fault(status=302, headers={"Location": "/someone/small/resolve/main/x", "X-Repo-Commit": ""}), 9)
    with pytest.raises(DownloadError):
        get()


@pytest.mark.parametrize("place", ["listing", "head", "file", "cdn"])
@pytest.mark.parametrize("location", ["http://[::zz]/x", "http://h:99999/x", "file:///etc/passwd", "http://h/\x7f"])
def test_a_redirect_that_leads_nowhere_is_said(get: Downloads, hub: FakeHub, place: Place, location: str) -> None:
    hub.plan(place, Fault(status=302, headers={"Location": location}), times=100)
    with pytest.raises(DownloadError):
        get()


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks5://127.0.0.1:9"])
def test_no_proxy_to_this_machine(get: Downloads, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """It would see the token."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ALL_PROXY", proxy)
    get(token="hf_secret")
    assert get.content("model.safetensors") == get.weights


def test_a_listing_without_end_is_refused(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].listed = [f"folder/{number}.json" for number in range(3000)]
    get()
    shutil.rmtree(get.folder / "small")
    hub.repos[REPO].listed = [f"{number}.json" for number in range(1000)]
    with pytest.raises(DownloadError, match=r"lists 1,005 files.*at most 1,000"):
        get(ModelSpec(name="other", repository=REPO, revision="main"))


# -- what may come -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:evil.json", "..", "con.json", "a\\evil.json"]
)
def test_names_that_lead_out_are_never_taken(get: Downloads, hub: FakeHub, name: str, tmp_path: Path) -> None:
    hub.repos[REPO].listed = [name]
    get()
    assert sorted(path.name for path in (get.folder / "small").iterdir()) == sorted(
        [*hub.repos[REPO].files, "manifest.json"]
    )
    assert not list(tmp_path.rglob("evil*"))
    with pytest.raises(ModelError, match="unusual name"):
        get(ModelSpec(name="other", repository=REPO, only=[name, "model.safetensors"]))


def test_pickles_are_refused(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].listed = ["pytorch_model.bin", "modeling.py"]
    get()
    assert "pytorch_model.bin" not in Store(get.folder).read("small").files
    hub.repos["someone/pickle"] = Repo({"config.json": b"{}", "pytorch_model.bin": b"x"}, set())
    with pytest.raises(ModelError, match=r"only as pytorch_model.bin. Files of that kind can contain programs"):
        get(ModelSpec(name="x", repository="someone/pickle", revision="main"))
    with pytest.raises(ModelError, match="files of that kind can contain programs"):
        get(ModelSpec(name="x", repository="someone/pickle", only=["pytorch_model.bin"]))


def test_a_model_of_an_unknown_kind_is_refused_before_its_weights_come(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].files |= transformers_files(architectures=["StrangeForCausalLM"])
    with pytest.raises(ModelError, match=r"StrangeForCausalLM"):
        get()
    assert hub.count("cdn") == 0


def test_weights_that_are_none_are_not_installed(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].files["model.safetensors"] = b"nothing of the kind"
    with pytest.raises(ModelError, match="is not a complete safetensors file"):
        get()
    assert not (get.folder / "small").exists()


# -- room --------------------------------------------------------------------------------------------------------


def test_a_disk_is_never_filled(get: Downloads, hub: FakeHub) -> None:
    get.free = lambda folder: 2_000_100_000
    with pytest.raises(NoRoom, match=r"needs 200 KB more, .* 2.0 GB free, of which 2.0 GB must stay free. Free 100 KB"):
        get()
    assert hub.count("cdn") == 0


def test_a_size_that_no_disk_has_is_refused(get: Downloads, hub: FakeHub) -> None:
    hub.repos[REPO].claimed = 10**17
    with pytest.raises(NoRoom, match=r"needs 100000.0 TB"):
        get()


def test_two_downloads_of_one_model_do_not_meet(get: Downloads) -> None:
    with Store(get.folder).lock("small"), pytest.raises(DownloadError, match="Another process is using the model '"):
        get()


def test_another_model_under_the_name_is_not_replaced(get: Downloads, hub: FakeHub) -> None:
    get()
    hub.repos["someone/else"] = Repo(transformers_files(10), set())
    with pytest.raises(ModelError, match=r"installed from someone/small"):
        get(ModelSpec(name="small", repository="someone/else", revision="main"))


def test_a_damaged_model_is_replaced(get: Downloads) -> None:
    get()
    (get.folder / "small" / "model.safetensors").write_bytes(b"short")
    get()
    assert get.content("model.safetensors") == get.weights
    manifest = json.loads(get.content("manifest.json"))
    assert manifest["format"] == 1


def test_a_folder_that_is_no_damaged_model_of_ours_is_never_replaced(get: Downloads, hub: FakeHub) -> None:
    precious = get.folder / "small" / "thesis.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("precious")
    asked = len(hub.asked)
    with pytest.raises(ModelError, match="Move it away"):
        get()
    assert precious.read_text() == "precious"
    assert len(hub.asked) == asked, "known before anything is fetched"


def test_what_lies_in_the_way_since_is_not_replaced_either(get: Downloads) -> None:
    precious = get.folder / "small" / "thesis.txt"

    def put(report: Transfer) -> None:
        precious.parent.mkdir(parents=True, exist_ok=True)
        precious.write_text("precious")

    spec = ModelSpec(name="small", repository=REPO, revision="main")
    with pytest.raises(ModelError, match="Move it away"):
        download(Store(get.folder), spec, Access(endpoint=get.hub.endpoint), put)
    assert precious.read_text() == "precious"
