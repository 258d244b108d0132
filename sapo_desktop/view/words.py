"""Words that window and terminal share, in English; the window translates them."""

from __future__ import annotations

from collections.abc import Mapping

from sapo_desktop.core.models import Stage
from sapo_desktop.core.records import Phase

PHASE_WORDS: dict[Phase, str] = {
    "waiting": "Waiting",
    "draw": "Choosing peers' answers",
    "questions": "Making questions",
    "generate": "Answering",
    "mark": "Scoring",
    "share": "Sharing",
    "train": "Learning",
    "checkpoint": "Saving",
    "evaluate": "Held-out questions",
}
"""In the order of a round."""
PHASES: tuple[Phase, ...] = tuple(PHASE_WORDS)[1:]

VERDICT_WORDS: Mapping[str, str] = {
    "solved": "Right",
    "partial": "Partly right",
    "wrong": "Wrong",
    "unparsed": "Unreadable",
    "no_answer": "No answer",
    "timeout": "Took too long",
    "scorer_failed": "Scoring failed",
}
"""Words by verdict."""
STAGE_WORDS: dict[Stage, str] = {
    "asking": "Asking the hub",
    "checking": "Checking existing files",
    "fetching": "Downloading",
    "waiting": "Waiting",
    "copying": "Copying",
    "finishing": "Finishing",
}
"""What a download or import does just now."""
