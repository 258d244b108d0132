"""One model of each kind, made once a session."""

from pathlib import Path

import pytest
import torch

from tests.engines.tiny import TorchEngine, loaded_engine, save_model


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tied output, all heads with their own keys."""
    return save_model(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def qwen2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Own output matrix, biases, two query heads a key head."""
    return save_model(tmp_path_factory.mktemp("qwen2"), "qwen2")


@pytest.fixture(scope="session")
def smollm3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tied output, two query heads a key head, a layer that knows no positions."""
    return save_model(tmp_path_factory.mktemp("smollm3"), "smollm3")


@pytest.fixture(params=["llama", "qwen2", "smollm3"])
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def engine(llama: Path) -> TorchEngine:
    return loaded_engine(llama, learning_rate=1e-2)
