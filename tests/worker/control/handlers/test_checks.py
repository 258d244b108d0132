"""What `doctor` asks the node: its port, its clock compared with peers', and which addresses can be reached."""

import socket

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed, NotKept, OnBattery, OutOfHours, Paused, Ready, Training, Why
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker.control.handlers.checks import clock, computing, listening, peers, swarm_checks
from sapo_desktop.worker.control.messages.replies import PeerAnswered
from sapo_desktop.worker.control.messages.swarm import LinkInfo, SwarmInfo

FIRST, SECOND = "wss://first.example:8765", "wss://second.example:8765"
SILO = SwarmInfo(state="silo", reason="In silo: no network at all.")


def swarm(state: str = "linked", *, links: int = 1, dialled: bool = True, **values: object) -> SwarmInfo:
    about = {"program": "sapo-desktop/0.1.0", "seconds": 1.0}
    counts = {"groups_in": 0, "groups_out": 0, "bytes_in": 0, "bytes_out": 0, "refused": {}}
    one = LinkInfo(key="ab" * 32, dialled=FIRST if dialled else "", **about, **counts)  # type: ignore[arg-type]
    return SwarmInfo(state=state, reason="As it stands.", links=[one] * links, **values)  # type: ignore[arg-type]


AT = Settings(listen="127.0.0.1:8765")


class Line:
    """Dials addresses, of which some answer."""

    def __init__(self, *there: str) -> None:
        self.there = there
        self.dialled: list[str] = []

    async def __call__(self, address: str) -> PeerAnswered:
        self.dialled.append(address)
        if address not in self.there:
            raise UsageError(f"{address} does not answer. Check whether it is right.")
        return PeerAnswered(key="ab" * 32, program="sapo-desktop/0.1.0", milliseconds=3.0)


@pytest.mark.parametrize(
    ("there", "links", "state", "words"),
    [
        ((FIRST, SECOND), 2, "good", "2 of 2 named ones answer; 2 are linked."),
        ((FIRST,), 1, "limited", "1 of 2 named ones answer; 1 is linked. wss://second.example:8765 does not answer"),
        ((), 1, "limited", "0 of 2"),
        ((), 0, "bad", "0 of 2 named ones answer; 0 are linked."),
    ],
)
async def test_peers_that_are_named_are_dialled(there: tuple[str, ...], links: int, state: str, words: str) -> None:
    line = Line(*there)
    check = await peers(Settings(silo=False, peers=f"{FIRST}, {SECOND}"), swarm(links=links), line)
    assert check.state == state and words in check.found and line.dialled == [FIRST, SECOND]
    assert bool(check.advice) == (state != "good")


async def test_in_silo_nobody_is_asked() -> None:
    line = Line(FIRST)
    found = await swarm_checks(Settings(peers=FIRST), SILO, line)
    assert line.dialled == [] and {check.state for check in found} == {"good"}
    assert [check.found.startswith("In silo: nothing was sent") for check in found] == [False, True, True]


@pytest.mark.parametrize(
    ("info", "state", "words"),
    [
        (swarm("joining", links=0), "limited", "still joining"),
        (swarm("failed", links=0), "bad", "As it stands."),
        (swarm("alone", links=0), "limited", "none was found"),
        (swarm(links=2), "good", "None is named; 2 are linked."),
        (swarm("silo", links=0), "good", "As it stands."),
    ],
)
async def test_without_named_peers_it_says_how_it_stands(info: SwarmInfo, state: str, words: str) -> None:
    check = await peers(Settings(silo=False), info, Line())
    assert check.state == state and words in check.found and bool(check.advice) == (state != "good")


@pytest.mark.parametrize(
    ("info", "state", "words"),
    [
        (SILO, "good", "nothing was sent"),
        (swarm(clock_offset=0.4), "good", "Within 1 s"),
        (swarm(clock_offset=-300.0), "limited", "5 minutes off"),
        (swarm(clock_wrong=True), "bad", "more than 20 minutes"),
        (swarm(clock_contradicting=3), "limited", "own clock stays in use"),
        (swarm("alone", links=0), "good", "No peer is linked"),
    ],
)
def test_the_clock_compared_with_the_peers(info: SwarmInfo, state: str, words: str) -> None:
    check = clock(info)
    assert check.state == state and words in check.found and bool(check.advice) == (state != "good")


@pytest.mark.parametrize(
    ("settings", "info", "state", "advice"),
    [
        (Settings(), SILO, "good", ""),
        (AT, swarm(address="wss://127.0.0.1:8765", dialled=False), "good", ""),
        (AT, swarm(address="wss://127.0.0.1:8765"), "limited", "router"),
        (AT, swarm("failed", links=0), "bad", "settings set listen"),
    ],
)
def test_the_port_that_others_link_to(settings: Settings, info: SwarmInfo, state: str, advice: str) -> None:
    check = listening(settings, info)
    assert check.state == state and advice in check.advice
    assert (check.found == "As it stands.") == (state == "bad")


def test_in_silo_it_is_looked_whether_the_port_can_be_had() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        check = listening(Settings(listen=where), SILO)
        assert check.state == "bad" and "End the program" in check.advice
    assert listening(Settings(listen=where), SILO).state == "good"
    assert listening(Settings(listen="nonsense"), SILO).state == "bad"


def test_a_host_name_to_listen_at_is_looked_up_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_server", lambda *_, **__: pytest.fail("it asks a name server"))
    check = listening(Settings(listen="node.example:8765"), SILO)
    assert check.state == "good" and "not resolved" in check.found


@pytest.mark.parametrize(
    ("whys", "state", "named", "advice"),
    [
        ([Training(round=3)], "good", "Nothing", ""),
        ([Ready()], "good", "Nothing", ""),
        ([OnBattery()], "limited", "on battery (BAT0, 55%)", "on_battery=continue"),
        ([Ready(), OnBattery(below=60)], "limited", "below 60%", "Plug the computer in"),
        ([OutOfHours(until=0.0)], "limited", "schedule", "set schedule"),
        ([NotKept(text="The disk is full.")], "limited", "The disk is full.", "automatically"),
        ([Failed(text="It died.", failures=5)], "bad", "It died.", "sapo-desktop run"),
    ],
)
def test_whatever_holds_the_node_back_is_named_with_what_to_do(
    whys: list[Why], state: str, named: str, advice: str
) -> None:
    check = computing(whys, Presence(on_battery=True, charge=55, battery="BAT0"), 0.0)
    assert check.state == state and named in check.found and advice in check.advice


def test_behind_a_pause_that_the_user_asked_for_the_next_one_is_named_too() -> None:
    check = computing([Paused(), OnBattery()], Presence(on_battery=True), 0.0)
    assert (
        check.found == "Paused by you. Paused: on battery."
        and "resume" in check.advice
        and "on_battery" in check.advice
    )
