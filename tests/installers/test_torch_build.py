"""The source of torch, with a tool that answers as real ones did."""

import io
import os
import sys
from pathlib import Path

import pytest

from installers.flavour import FLAVOURS, choose
from installers.progress import Progress
from installers.torch_build import get_torch
from installers.trouble import CommandFailed

CPU = FLAVOURS["linux-cpu"]
IMPOSSIBLE = """ERROR: Cannot install torch==2.13.0+cpu because these package versions have conflicting dependencies.
    The user requested (constraint) torch<=2.14.1
ERROR: ResolutionImpossible: for help visit the page"""
LACKS = "ERROR: No matching distribution found for torch==2.13.0+cpu"
UNREACHABLE = "WARNING: Retrying after connection broken by 'NewConnectionError'"
SAYS = "import sys; said = sys.argv[2 if 'asking' in sys.argv else 1]; print(said); sys.exit(bool(said))"


def get(tmp_path: Path, configured: str, pytorch: str, machine: str = "x86_64") -> tuple[str, str]:
    """The flavour that follows, and what was said."""
    out = io.StringIO()
    command = [sys.executable, "-c", SAYS, configured, pytorch]
    flavour = choose("Linux", machine, ["no-such-program"])
    got = get_torch(flavour, command, ["asking"], Progress(out, 3, tmp_path / "log"), dict(os.environ))
    return got.name, out.getvalue()


def test_what_the_configured_sources_have_is_taken(tmp_path: Path) -> None:
    name, said = get(tmp_path, "", "never asked")
    assert name == "linux-cpu" and "asking" not in said


@pytest.mark.parametrize("missing", [LACKS, IMPOSSIBLE, "THESE PACKAGES DO NOT MATCH THE HASHES", "never seen before"])
def test_any_failure_to_find_the_build_leads_to_pytorch(tmp_path: Path, missing: str) -> None:
    name, said = get(tmp_path, missing, "")
    assert name == "linux-cpu" and "asking PyTorch's own index" in said and "download" not in said


@pytest.mark.parametrize("missing", [LACKS, IMPOSSIBLE, UNREACHABLE, "403 Client Error", "never seen before"])
def test_after_that_the_plain_build_follows_and_its_size_is_said(tmp_path: Path, missing: str) -> None:
    name, said = get(tmp_path, LACKS, missing)
    assert name == "linux-cuda" and "2.7 GB to download and 12 GB of free disk" in said


@pytest.mark.parametrize("fault", [UNREACHABLE, "CERTIFICATE_VERIFY_FAILED", "No space left on device"])
def test_a_fault_of_this_computer_ends_it_at_once(tmp_path: Path, fault: str) -> None:
    with pytest.raises(CommandFailed):
        get(tmp_path, fault, "")


def test_a_full_disk_ends_it_later_too(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="The disk is full"):
        get(tmp_path, LACKS, "No space left on device")


def test_a_computer_without_a_plain_build_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"Missing: torch==2\.13\.0\+cpu"):
        get(tmp_path, LACKS, LACKS, machine="aarch64")


def test_each_flavour_that_may_follow_says_what_it_costs() -> None:
    followers = {flavour.plain for flavour in FLAVOURS.values()} - {None}
    assert followers and all(FLAVOURS[name].cost and not FLAVOURS[name].torch_lock for name in followers if name)
