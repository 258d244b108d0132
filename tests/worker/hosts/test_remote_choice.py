"""When a server elsewhere answers: what the settings must say, and that silo forbids it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Completion, Group, Mark, Question
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.protocols import LoadRemote, UseAdapter
from sapo_desktop.learning.mixing import training_sequences
from sapo_desktop.system import kept_secrets, remote_key
from sapo_desktop.system.hardware import Gpu, Hardware
from sapo_desktop.worker.hosts.choice import BaseModel, EngineChoice, choose_engine
from sapo_desktop.worker.hosts.generator import GeneratorHost
from tests.builders import loaded
from tests.models.fit.test_fit import MACHINE

MODEL = BaseModel(path=resource("starter"), hash="00", parameters=1000)
REMOTE = Settings(generator="remote", silo=False, remote_url="http://gpu:8000")


def settings(**changes: Any) -> Settings:
    return msgspec.structs.replace(REMOTE, **changes)


def chosen(free: float = 6000, cards: list[Gpu] | None = None, **changes: Any) -> EngineChoice:
    """`free`: megabytes of memory."""

    def look(folder: Path) -> Hardware:
        return msgspec.structs.replace(MACHINE, memory_free=int(free * 1e6), gpus=cards or [])

    return choose_engine(settings(**changes), MODEL, look)


def test_without_a_shared_folder_it_only_answers_and_with_one_it_learns() -> None:
    assert chosen() == EngineChoice(generator="remote", trains=False)
    assert chosen(remote_adapters="/shared") == EngineChoice(generator="remote", trains=True)
    assert chosen(remote_adapters="/shared", trainer="none") == EngineChoice(generator="remote", trains=False)


def test_where_the_trainer_does_not_fit_the_server_still_answers_and_it_is_said() -> None:
    way = chosen(5, remote_adapters="/shared")
    assert (way.generator, way.trains) == ("remote", False)
    assert "starter does not fit: it answers through a server, learns with PyTorch" in str(
        way.note
    ) and "only answers" in str(way.note)
    # Who insists on learning is told by the loader, which refuses.
    assert chosen(5, remote_adapters="/shared", trainer="torch") == EngineChoice(generator="remote", trains=True)
    # The reserve is given up before learning is.
    assert chosen(900, remote_adapters="/shared", memory_reserve=0.9) == EngineChoice(generator="remote", trains=True)


def test_a_trainer_that_no_card_holds_learns_on_the_processor() -> None:
    full = Gpu("card", 8 * 2**30, 2**20)
    free = Gpu("card", 8 * 2**30, 8 * 2**30)
    assert chosen(cards=[full], remote_adapters="/shared") == EngineChoice(
        generator="remote", trains=True, device="cpu"
    )
    assert chosen(cards=[free], remote_adapters="/shared") == EngineChoice(
        generator="remote", trains=True, device="cuda"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"silo": True}, "In silo nothing leaves this computer"),
        ({"remote_url": ""}, "set remote_url"),
        ({"trainer": "torch"}, "Set remote_adapters"),
        ({"remote_adapters": "/shared", "method": "full"}, "LoRA adapter, not all weights"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        choose_engine(settings(**changes), MODEL)


def test_a_gguf_file_has_no_tokens_to_answer_in() -> None:
    with pytest.raises(UsageError, match="model folder"):
        choose_engine(settings(), BaseModel(path=Path("m.gguf"), hash="00", parameters=0))


class FakeHost:
    """Answers as the remote host does; writes down what it was asked."""

    def __init__(self) -> None:
        self.pid: int | None = 1
        self.asked: list[Any] = []

    async def call(self, request: Any, *, timeout: float, on_progress: Any = None, loading: bool = False) -> Any:
        self.asked.append(request)
        return loaded(device="remote", dtype="vllm")

    async def restart(self) -> None:
        self.pid = 2


async def test_threads_are_no_business_of_a_server() -> None:
    host = FakeHost()
    load = LoadRemote(url="http://gpu:8000", model="", folder="model")
    generator = GeneratorHost(host, load)  # type: ignore[arg-type]
    await generator.start()
    await generator.configure(4)
    generator.use(Path("adapter"))
    await generator.start()
    assert host.asked == [load, UseAdapter(file="adapter")]


def test_an_answer_without_log_probabilities_carries_no_weight() -> None:
    question = Question(task="gcd/easy", seed=1, text="?", hash=b"")
    mark = Mark(solved=True, partial=1.0, reward=1.0, answer="1", verdict="solved")
    answers = [
        Completion(tokens=[1, 2], logprobs=[-0.5, -0.25], text="a", finish="stop"),
        Completion(tokens=[3], logprobs=[], text="b", finish="stop"),
    ]
    group = Group(question=question, completions=answers, marks=[mark, mark])
    batch = training_sequences([group], [[7]], [[1.0, -1.0]], off_policy=True)
    assert [one.sampler_logprobs for one in batch] == [[-0.5, -0.25], None]


def test_the_key_comes_from_the_environment_before_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}

    class Keyring:
        def get_password(self, service: str, user: str) -> str | None:
            return kept.get(user)

        def set_password(self, service: str, user: str, secret: str) -> None:
            kept[user] = secret

        def delete_password(self, service: str, user: str) -> None:
            del kept[user]

    monkeypatch.setattr(kept_secrets, "usable_keyring", Keyring)
    monkeypatch.delenv(remote_key.VARIABLE, raising=False)
    assert remote_key.load("http://gpu:8000") is None
    remote_key.keep("http://gpu:8000/v1/", "from-keyring")
    assert remote_key.load("http://gpu:8000") == "from-keyring"
    assert remote_key.load("http://other:8000") is None
    monkeypatch.setenv(remote_key.VARIABLE, "from-environment")
    assert remote_key.load("http://gpu:8000") == "from-environment"
    monkeypatch.setenv(remote_key.VARIABLE, "two words\n")
    with pytest.raises(UsageError, match="one word"):
        remote_key.load("http://gpu:8000")
    remote_key.keep("http://gpu:8000", "")
    assert kept == {}
