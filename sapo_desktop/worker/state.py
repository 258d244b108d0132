"""The node's states and the one function that moves between them.

```
starting ──ready──> working ──pause──> paused ──resume──> working
                      │  └──finish──> finishing ──round done──> paused    (finish leads there from paused too)
                      └──quit (from anywhere)──> stopping ──> stopped
```
A node that only serves requests (eval, ask, export) is `idle`: it holds the data folder but runs no rounds.
"""

from __future__ import annotations

import enum

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import sentence


class NodeState(enum.StrEnum):
    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    FINISHING = "finishing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


class Trigger(enum.StrEnum):
    READY = "ready"
    READY_IDLE = "ready_idle"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    FINISH = "finish"
    ROUND_DONE = "round_done"
    ROUNDS_DONE = "rounds_done"
    QUIT = "quit"
    STOPPED = "stopped"
    FAIL = "fail"


_S, _T = NodeState, Trigger
_MOVES: dict[tuple[NodeState, Trigger], NodeState] = {
    (_S.STARTING, _T.READY): _S.WORKING,
    (_S.STARTING, _T.READY_IDLE): _S.IDLE,
    (_S.STARTING, _T.PAUSE): _S.PAUSED,
    (_S.IDLE, _T.START): _S.WORKING,
    (_S.IDLE, _T.RESUME): _S.WORKING,
    (_S.WORKING, _T.PAUSE): _S.PAUSED,
    (_S.WORKING, _T.FINISH): _S.FINISHING,
    (_S.WORKING, _T.ROUND_DONE): _S.WORKING,
    (_S.WORKING, _T.ROUNDS_DONE): _S.IDLE,
    (_S.FINISHING, _T.ROUND_DONE): _S.PAUSED,
    (_S.FINISHING, _T.ROUNDS_DONE): _S.IDLE,
    (_S.FINISHING, _T.PAUSE): _S.PAUSED,
    (_S.FINISHING, _T.RESUME): _S.WORKING,
    (_S.PAUSED, _T.RESUME): _S.WORKING,
    (_S.PAUSED, _T.FINISH): _S.FINISHING,
    (_S.PAUSED, _T.READY): _S.PAUSED,
    (_S.PAUSED, _T.READY_IDLE): _S.PAUSED,
    (_S.PAUSED, _T.ROUND_DONE): _S.PAUSED,
    (_S.PAUSED, _T.ROUNDS_DONE): _S.IDLE,
    (_S.STOPPING, _T.STOPPED): _S.STOPPED,
    (_S.FAILED, _T.RESUME): _S.STARTING,
}
_ALREADY = {
    (_S.PAUSED, _T.PAUSE),
    (_S.WORKING, _T.RESUME),
    (_S.WORKING, _T.START),
    (_S.FINISHING, _T.FINISH),
    (_S.STOPPING, _T.QUIT),
    (_S.STOPPING, _T.ROUND_DONE),
    (_S.STOPPING, _T.ROUNDS_DONE),
    (_S.STOPPED, _T.QUIT),
}
_STATES = {
    _S.STARTING: sentence("starting"),
    _S.IDLE: sentence("idle"),
    _S.WORKING: sentence("working"),
    _S.FINISHING: sentence("finishing"),
    _S.PAUSED: sentence("paused"),
    _S.STOPPING: sentence("stopping"),
    _S.STOPPED: sentence("stopped"),
    _S.FAILED: sentence("failed"),
}
_ORDERS = {
    _T.START: sentence("start"),
    _T.PAUSE: sentence("pause"),
    _T.RESUME: sentence("resume"),
    _T.FINISH: sentence("finish"),
}


def transition(state: NodeState, trigger: Trigger) -> NodeState:
    """Return the state that `trigger` leads to; UsageError where it makes no sense in `state`."""
    if (state, trigger) in _MOVES:
        return _MOVES[state, trigger]
    if (state, trigger) in _ALREADY:
        return state
    if trigger is Trigger.QUIT:
        return NodeState.STOPPING
    if trigger is Trigger.FAIL:
        return NodeState.FAILED
    order = _ORDERS.get(trigger, trigger.value.replace("_", " "))
    raise UsageError(sentence("The node is {state}: it cannot {order} now.", state=_STATES[state], order=order))
