"""Made-up replies for the Peers page."""

from sapo_desktop.core.records import Mark
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import HumanMarked, IdentityIs, InviteIs, PeerAnswered, PosedQuestion
from sapo_desktop.worker.control.messages.requests import (
    AdmitPeer,
    AskForQuestion,
    ChangeIdentity,
    CreateSwarm,
    GetIdentity,
    GetInvite,
    GiveAnswer,
    JoinSwarm,
    ResetSettings,
    SetSettings,
    TestPeer,
)
from tests.gui.stage import StageBridge

KEY = "ab" * 32
LINK = f"sapo://join?swarm={'cd' * 32}&peer=wss://home.example:8765%23{'ef' * 32}"
POSED = PosedQuestion(
    id="9f3a",
    task="letter_counting/easy",
    title="Count a letter",
    question='How many times does the letter "e" appear in the text: "the queen of bees never sleeps"?',
    form="a whole number, like 42",
    shared=False,
    where="Your answer stays on this computer, where the model learns from it. In silo.",
    seconds=900.0,
)
MARKED = HumanMarked(
    task="letter_counting/easy",
    question=POSED.question,
    completion="<answer>9</answer>",
    mark=Mark(solved=True, partial=1.0, reward=1.0, answer="9", verdict="solved"),
    truth="9",
    model_solved=3,
    model_answers=7,
    shared=False,
    learned=True,
    note="",
)


def stage(bridge: StageBridge) -> None:
    """Everything goes well."""
    bridge.replies.update(
        {
            GetIdentity: IdentityIs(key=KEY, kept="keyring"),
            ChangeIdentity: IdentityIs(key=KEY, kept="file"),
            SetSettings: Ok(text="Saved."),
            ResetSettings: Ok(text="Saved."),
            TestPeer: PeerAnswered(key="12" * 32, program="sapo-desktop 0.4.0", milliseconds=38.2),
            JoinSwarm: Ok(text=f"This node will join the private swarm {'cd' * 32}."),
            CreateSwarm: Ok(text="This node is in its own private swarm."),
            GetUsage: Usage(joules=2.9e6, ways_out=0),
            GetInvite: InviteIs(link=LINK),
            AdmitPeer: InviteIs(link=f"{LINK}&admission={'01' * 72}"),
            AskForQuestion: POSED,
            GiveAnswer: MARKED,
        }
    )
