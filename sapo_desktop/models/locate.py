"""Where the model lies that a setting or the command line names: the starter, an installed one, or any folder.

A name with a path in it is a path. Any other is looked for among the installed models first, so that what happens to
lie in the working directory never takes the place of one of them.
"""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.models import installed_name
from sapo_desktop.models.check import GGUF_ONLY
from sapo_desktop.models.starter import STARTER, resolve
from sapo_desktop.models.store import Store


def locate(name: str, models: Path) -> Path:
    """The folder of the model `name`. `models`: the models folder.

    Raises:
        ModelError: there is none of that name, it is damaged, or it is one that cannot be trained.
    """
    if name == STARTER:
        return resolve(name)
    path = Path(name).expanduser()
    if path.suffix.lower() == ".gguf" and path.is_file():
        raise ModelError(f"{path} cannot be this node's model. {GGUF_ONLY}")
    if path.is_dir() and (path.is_absolute() or path.name != name):
        return path.resolve()
    store = Store(models)
    installed = installed_name(name)
    if installed is not None and store.folder(installed).exists():
        if store.read(installed).kind == "gguf":
            raise ModelError(f"{name} cannot be this node's model. {GGUF_ONLY}")
        return store.folder(installed)
    if path.is_dir():
        return path.resolve()
    raise ModelError(
        f"There is no model {name!r}: none of that name is installed in {models}, and no folder is there. Download it "
        f"(sapo-desktop models download {name}), import it (models import PATH), or name 'starter' or a folder."
    )
