"""How a node reduces its memory: fewer answers at once, then shorter ones, then a smaller model."""

from __future__ import annotations

import asyncio

import msgspec

from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.learning.plan import answer_tokens, trainer_settings
from sapo_desktop.worker.hosts.choice import smaller_model
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.showing import Showing
from sapo_desktop.worker.status import Status
from sapo_desktop.worker.store.keeper import Keeper

_FEWEST_TOKENS = 16


class Relief:
    """Lowers what the next load of the engine requests, and reports it."""

    def __init__(self, status: Status, engine: Engine, keeper: Keeper, show: Showing) -> None:
        self._status = status
        self._engine = engine
        self._keeper = keeper
        self._show = show

    def ask_less(self) -> bool:
        """From the next load on request less memory; False if nothing is left to reduce."""
        return self._fewer_at_once() or self.shorter_answers()

    def _fewer_at_once(self) -> bool:
        plan = self._engine.plan
        micro_batch = plan.trainer.micro_batch if self._engine.trains else 1
        if micro_batch <= 1 and plan.batch <= 1:
            return False
        if plan.batch > 1:
            plan.bound(batch=plan.batch // 2)
            self._show.notice(
                "info",
                sentence(
                    "The model gives at most {count} answers at once, the most that fits into memory.", count=plan.batch
                ),
            )
        if micro_batch > 1:
            self.remember_micro_batch(micro_batch // 2)
        return True

    def remember_micro_batch(self, fitted: int) -> None:
        """Store it, so that what did not fit once is not tried at every start."""
        if 0 < fitted < self._engine.plan.trainer.micro_batch:
            self._engine.plan.bound(micro_batch=fitted)
            self._status.counters = msgspec.structs.replace(self._status.counters, micro_batch=fitted)
            self._show.notice(
                "info",
                sentence("Training uses {count} answers at a time, the most that fits into memory.", count=fitted),
            )

    def shorter_answers(self) -> bool:
        """Halve the longest answer; False if it is short already."""
        tokens = answer_tokens(self._status.settings, self._engine.parameters) // 2
        if tokens < _FEWEST_TOKENS:
            return False
        self._status.shorten_answers(tokens)
        self._show.notice(
            "warning",
            sentence(
                "There is not enough memory for even one full answer at a time, so answers are cut at {count} tokens.",
                count=tokens,
            ),
        )
        return True

    async def take_smaller_model(self, reason: Text) -> bool:
        """Continue with the largest smaller model on disk that fits, from its start; only without a checkpoint of
        this one. False if there is none, or none may replace it."""
        status, engine = self._status, self._engine
        if not engine.can_change_model:
            return False
        # Smaller than the one to be loaded: a larger one may be loaded from before.
        model = await asyncio.to_thread(smaller_model, engine.plan.parameters, status.settings, engine.plan.choice)
        if model is None:
            return False
        status.counters = msgspec.structs.replace(
            status.counters,
            model=model.hash,
            micro_batch=0,
            reasoned={},
            accounts={},
            shots=None,
            limit=0,
            readable=None,
            teaching=None,
        )
        engine.use_model(model, trainer_settings(status.settings, model.parameters, status.counters))
        if status.manifest is not None:
            await status.begin_run(msgspec.structs.replace(status.manifest, model_sha256=model.hash), self._keeper)
        self._show.notice(
            "warning",
            sentence(
                "{reason} The node continues with {model}. Choose it to keep it.",
                in_terminal="sapo-desktop settings set model {model}",
                reason=reason,
                model=model.path.name,
            ),
        )
        return True
