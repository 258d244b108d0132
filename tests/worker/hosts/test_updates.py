"""Checks for a newer version: how often, what is remembered, and that silo and the setting prevent all traffic."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from sapo_desktop.core.errors import DownloadError, InSilo, SapoError
from sapo_desktop.core.models import AskRelease, ReleaseSays
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Release
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import GetUpdates, Notice, UpdatesAre
from sapo_desktop.worker.hosts.updates import Looker, Memory, Updates
from tests.core.updates.signing import DAY, NOW, RELEASE, manifest, public, served, signed
from tests.models.hub_server import with_a_network

OUT = Settings(silo=False)


class Site:
    """The release address, and the time."""

    def __init__(self, data: DataFolder) -> None:
        self.document, self.signature = manifest(), signed(manifest())
        self.asked = 0
        self.now = NOW
        self.fail: SapoError | None = None
        self.hold: asyncio.Event | None = None
        self.data = data

    def says(self, document: bytes, by: int = 1) -> None:
        self.document, self.signature = document, signed(document, by)

    async def ask(self, request: AskRelease, data: DataFolder) -> ReleaseSays:
        self.asked += 1
        assert request.address == RELEASE.address
        if self.hold is not None:
            await self.hold.wait()
        if self.fail is not None:
            raise self.fail
        return ReleaseSays(document=self.document, signature=self.signature)

    def looker(self, own: str = "1.1.0", release: Release = RELEASE) -> Looker:
        """A looker as at a start of the program."""
        return Looker(self.data, release, self.ask, lambda: self.now, lambda: 0.5, own)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(DataFolder.open(tmp_path / "node"))


async def test_what_was_seen_outlives_a_restart_and_is_judged_by_the_program_of_then(site: Site) -> None:
    assert site.looker().known(OUT).state == "unknown"
    found = await site.looker().look(OUT)
    assert found.state == "newer" and found.looked == NOW and site.asked == 1
    assert site.looker().known(OUT) == found
    assert site.looker(own="1.2.0").known(OUT).state == "current"
    site.now += 100 * DAY
    assert site.looker().known(OUT).state == "refused" and site.asked == 1
    other_keys = Release(address=RELEASE.address, keys=[public(3)])
    assert site.looker(release=other_keys).known(OUT).state == "unknown"


async def test_it_is_looked_once_a_day_and_a_failure_counts(site: Site) -> None:
    assert site.looker().is_due(OUT)
    site.fail = DownloadError("The connection broke.")
    with pytest.raises(DownloadError):
        await site.looker().look(OUT)
    assert not site.looker().is_due(OUT)
    site.now += DAY
    assert not site.looker().is_due(OUT)  # an eighth of a day more, by the draw
    site.now += DAY / 8
    assert site.looker().is_due(OUT)


def test_a_clock_that_was_wrong_does_not_put_it_off(site: Site) -> None:
    site.data.updates.write_bytes(msgspec.json.encode(Memory(looked=NOW + 1000 * DAY, next=NOW + 1001 * DAY)))
    assert site.looker().is_due(OUT)
    site.now += 1000.5 * DAY
    assert not site.looker().is_due(OUT)


async def test_no_older_list_is_believed_after_a_restart(site: Site) -> None:
    site.says(manifest(number=8))
    await site.looker().look(OUT)
    site.says(manifest(number=7, version="1.5.0"))
    found = await site.looker().look(OUT)
    assert found.state == "refused"
    known = site.looker().known(OUT)
    assert known.state == "newer" and known.version == "1.2.0"
    assert site.looker(own="1.2.0").known(OUT).text == found.text


@pytest.mark.parametrize(
    ("release", "settings", "words"),
    [
        (Release(), OUT, "no release address"),
        (RELEASE, Settings(silo=False, look_for_updates=False), "look_for_updates is off"),
        (RELEASE, Settings(silo=True), "in silo"),
    ],
)
async def test_off_and_silo_mean_no_traffic(site: Site, release: Release, settings: Settings, words: str) -> None:
    looker = site.looker(release=release)
    assert not looker.is_due(settings)
    with pytest.raises(SapoError, match=words):
        await looker.look(settings)
    known = looker.known(settings)
    assert known.state == "off" and words in str(known.text) and site.asked == 0


@how(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(silo=st.booleans(), look=st.booleans(), address=st.booleans(), allowed=st.booleans(), due=st.booleans())
def test_nothing_is_asked_where_anything_forbids_it(
    site: Site, silo: bool, look: bool, address: bool, allowed: bool, due: bool
) -> None:
    site.data.updates.unlink(missing_ok=True)
    site.asked = 0
    if not due:
        site.data.updates.write_bytes(msgspec.json.encode(Memory(looked=NOW, next=NOW + DAY)))
    settings = Settings(silo=silo, look_for_updates=look)

    async def a_moment() -> None:
        updates = Updates(
            site.looker(release=RELEASE if address else Release()),
            lambda: settings,
            lambda: allowed,
            lambda event: None,
        )
        task = asyncio.create_task(updates.run())
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(a_moment())
    assert site.asked == (not silo and look and address and allowed and due)


async def test_what_was_known_to_be_unsafe_is_still_said_in_silo(site: Site) -> None:
    await site.looker().look(OUT)
    found = site.looker(own="0.9.0").known(Settings(silo=True))
    assert found.state == "urgent" and site.asked == 1
    assert site.looker(own="0.9.0").known(Settings(look_for_updates=False)).state == "off"


async def test_a_damaged_memory_is_said_and_starts_nothing(site: Site) -> None:
    site.data.updates.write_text("{")
    with pytest.raises(SapoError, match="Delete it"):
        await site.looker().look(OUT)
    assert site.asked == 0
    updates = Updates(site.looker(), lambda: OUT, lambda: True, lambda event: None)
    assert "Delete it" in str(updates.standing().text)


async def test_clients_are_reported_and_what_is_unsafe_is_a_notice_once(site: Site) -> None:
    published: list[Event] = []
    updates = Updates(site.looker(own="0.9.0"), lambda: OUT, lambda: True, published.append)
    for _ in range(2):
        reply = await updates.answer(GetUpdates(look=True))
        assert reply.standing.state == "urgent"
    assert [type(event) for event in published] == [UpdatesAre, Notice, UpdatesAre] and site.asked == 2
    assert (await updates.answer(GetUpdates())).standing == reply.standing and site.asked == 2


async def test_a_setting_that_changes_it_is_reported_at_once(site: Site) -> None:
    published: list[Event] = []
    now = OUT
    updates = Updates(site.looker(), lambda: now, lambda: True, published.append)
    await updates.answer(GetUpdates(look=True))
    updates.follow()
    now = Settings(silo=False, look_for_updates=False)
    updates.follow()
    states = [event.standing.state for event in published if isinstance(event, UpdatesAre)]
    assert states == ["newer", "off"] and site.asked == 1


async def test_going_into_silo_ends_a_look_at_once(site: Site) -> None:
    site.hold = asyncio.Event()
    now = OUT
    updates = Updates(site.looker(), lambda: now, lambda: True, lambda event: None)
    task = asyncio.create_task(updates.answer(GetUpdates(look=True)))
    while not site.asked:
        await asyncio.sleep(0)
    now = Settings(silo=True)
    async with asyncio.timeout(5):
        with pytest.raises(InSilo, match="The network was switched off"):
            await task


# -- the real way: its own process, over HTTP -------------------------------------------------------------


async def test_a_process_of_its_own_asks_over_http(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_a_network(monkeypatch)
    with served(tmp_path / "site") as address:
        release = msgspec.structs.replace(RELEASE, address=address)
        assert (await Looker(site.data, release, clock=lambda: NOW, own="1.1.0").look(OUT)).version == "1.2.0"
