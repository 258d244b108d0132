"""The entries of a GGUF file's header, by the names that its architecture uses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import only_answers


class Fields:
    """Values of a header, checked against the requested type. All methods raise ModelError for another type."""

    def __init__(self, path: Path, fields: Mapping[str, Any]) -> None:
        """`fields`: from the gguf library's reader."""
        self.path = path
        self._fields = fields
        self.architecture = self.text("general.architecture")

    def check_kind(self) -> None:
        """Refuse a model that cannot learn here, naming its kind."""
        start = f"{self.architecture}."
        numbers = {
            key.removeprefix(start): value
            for key, field in self._fields.items()
            if key.startswith(start) and isinstance(value := field.contents(), int | float)
        }
        rule = self.text("tokenizer.ggml.pre", "")
        why = only_answers(self.path.name, self.architecture, numbers, self.text("tokenizer.ggml.model", ""), rule)
        if why:
            raise ModelError(why)

    def get(self, key: str) -> Any:
        """The value under the full key; None if there is none."""
        field = self._fields.get(key)
        return None if field is None else field.contents()

    def text(self, key: str, otherwise: str | None = None) -> str:
        value = self.get(key)
        return value if isinstance(value, str) else self._absent(key, otherwise)

    def list(self, key: str) -> list[Any]:
        value = self.get(key)
        return value if isinstance(value, list) else self._absent(key, None)

    def flag(self, key: str, otherwise: bool) -> bool:
        value = self.get(key)
        return value if isinstance(value, bool) else otherwise

    def whole(self, key: str, otherwise: int | None = None) -> int:
        """A whole number under the architecture's name."""
        value = self.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) else self._absent(key, otherwise)

    def number(self, key: str, otherwise: float | None = None) -> float:
        """A number under the architecture's name."""
        value = self.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int | float) else self._absent(key, otherwise)

    def token(self, name: str) -> int | None:
        """Id of a special token: `bos`, `eos`, `eot`, `eom`, `padding`, `unknown`."""
        value = self.get(f"tokenizer.ggml.{name}_token_id")
        return value if isinstance(value, int) else None

    def _absent(self, key: str, otherwise: Any) -> Any:
        if otherwise is None:
            raise ModelError(
                "{path} does not give its {key} in the usual way. Download the file again, or choose another model.",
                path=str(self.path),
                key=key,
            )
        return otherwise
