"""Made-up events of the worker for Home."""

from sapo_desktop.worker.control.messages.facts import GetUsage, Usage
from sapo_desktop.worker.control.messages.replies import Aha, Ahas, Week
from sapo_desktop.worker.control.messages.requests import GetAhas, GetWeek
from tests.gui.stage import StageBridge


def stage(bridge: StageBridge) -> None:
    bridge.replies[GetUsage] = Usage(joules=2.9e6)
    bridge.replies[GetWeek] = Week(
        rounds=412, solved=19_310, helped=7, joules=1_300_000, score_before=0.71, score=0.734
    )
    bridge.replies[GetAhas] = Ahas(
        items=[
            Aha(
                task=task,
                round=number,
                tries=tries,
                question="Please reduce the fraction 28/42 to its lowest terms.",
                answer="Both are divisible by 14. <answer>2/3</answer>",
                peer_round=number - 9,
                peer="7c1e" * 16,
                peer_question="Please reduce the fraction 45/60 to its lowest terms.",
                peer_answer="45 = 15 * 3 and 60 = 15 * 4. <answer>3/4</answer>",
            )
            for task, number, tries in (("fraction_simplification/middle", 812, 96), ("count_bits/middle", 655, 72))
        ]
    )
