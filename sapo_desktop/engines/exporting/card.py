"""The README.md of an exported model: its origin, its training, and how to load it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import sapo_desktop
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.core.files.reading import open_regular, read_bytes
from sapo_desktop.engines.prompts import INSTRUCTIONS

_LONGEST_CARD = 4_000_000
_KIND = {
    "peft": "LoRA adapter (peft)",
    "merged": "merged weights (transformers)",
    "gguf": "GGUF, F16 (llama.cpp)",
    "gguf-adapter": "LoRA adapter for the GGUF file named above (llama.cpp, Ollama)",
}
_USE = {
    "peft": """```python
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

base = AutoModelForCausalLM.from_pretrained("BASE")   # the folder of the base model named above
model = PeftModel.from_pretrained(base, "THIS FOLDER")
tokenizer = AutoTokenizer.from_pretrained("THIS FOLDER")
```""",
    "merged": """```python
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("THIS FOLDER")
tokenizer = AutoTokenizer.from_pretrained("THIS FOLDER")
```""",
    "gguf": """```python
from llama_cpp import Llama

model = Llama("THE FILE.gguf", verbose=False)
```""",
    "gguf-adapter": """```
llama-cli -m BASE.gguf --lora ADAPTER.gguf      # llama.cpp; BASE.gguf is the file named above
```

For Ollama, a Modelfile:

```
FROM ./BASE.gguf
ADAPTER ./ADAPTER.gguf
SYSTEM \"""{instructions}\"""
PARAMETER temperature 0
PARAMETER repeat_penalty 1
```

The model was trained with this system message. If worked examples were shown to it (the setting `shots`), show them
elsewhere too, as earlier messages. Without them it answers as if untrained.""".replace("{instructions}", INSTRUCTIONS),
}


def card(format: str, base: Path, architecture: str, steps: int | None, adapted: bool) -> str:
    """The text of the model card. `base`: the folder, or the GGUF file; `architecture`: its class in transformers."""
    kind = "gguf-adapter" if (format, adapted, base.is_file()) == ("gguf", True, True) else format
    how = "through a LoRA adapter" if adapted else "of all weights"
    trained = "An unrecorded number of" if steps is None else f"{steps}"
    licence = licence_of(base)
    front = f"---\nlicense: {licence}\nbase_model: {base.name}\n---\n" if licence else ""
    return f"""{front}# {base.name}, trained with SAPO Desktop

- Base: {base.name} ({architecture}), {_weights(base)}
- Training: {trained} steps of GRPO on procedural reasoning questions, {how}
- Contents: {_KIND[kind]}, written by SAPO Desktop {sapo_desktop.__version__}
- Licence: {licence or "that of the base model, which its folder does not name"}

{_USE[kind]}
"""


def _weights(base: Path) -> str:
    """The base's weight files with their SHA-256, because its name alone does not identify it."""
    named = []
    for file in parts_of(base) if base.is_file() else sorted(base.glob("*.safetensors")):
        with open_regular(file) as stream:
            named.append(f"{file.name} (SHA-256 {hashlib.file_digest(stream, 'sha256').hexdigest()})")
    return ", ".join(named)


def licence_of(path: Path) -> str:
    """The licence in the front matter of the folder's README.md or in a GGUF file; empty if there is none."""
    if path.is_file():
        from sapo_desktop.engines.gguf.fields import Fields
        from sapo_desktop.engines.gguf.reading import open_parts

        return Fields(path, open_parts(path)[0].fields).text("general.license", "")
    card = path / "README.md"
    if not card.is_file():
        return ""
    lines = read_bytes(card, _LONGEST_CARD).decode("utf-8", "replace").splitlines()
    if not lines or lines[0].strip() != "---":
        return ""
    for line in lines[1:]:
        if line.strip() == "---":
            break
        if line.startswith("license:"):
            return line.removeprefix("license:").strip().strip("'\"")
    return ""
