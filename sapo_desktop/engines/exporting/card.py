"""The README.md that goes with an exported model: what it came from, how it was trained, how it is loaded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import sapo_desktop
from sapo_desktop.core.files.reading import open_regular, read_bytes

_LONGEST_CARD = 4_000_000
_KIND = {
    "peft": "LoRA adapter (peft)",
    "merged": "merged weights (transformers)",
    "gguf": "GGUF, F16 (llama.cpp)",
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
}


def card(format: str, model_folder: Path, steps: int | None, adapted: bool) -> str:
    """The text of the model card."""
    architecture = json.loads((model_folder / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    how = "through a LoRA adapter" if adapted else "of all weights"
    trained = "An unrecorded number of" if steps is None else f"{steps}"
    licence = licence_of(model_folder)
    front = f"---\nlicense: {licence}\nbase_model: {model_folder.name}\n---\n" if licence else ""
    return f"""{front}# {model_folder.name}, trained with SAPO Desktop

- Base: {model_folder.name} ({architecture}), {_weights(model_folder)}
- Training: {trained} steps of GRPO on procedural reasoning questions, {how}
- Contents: {_KIND[format]}, written by SAPO Desktop {sapo_desktop.__version__}
- Licence: {licence or "that of the base model, which its folder does not name"}

{_USE[format]}
"""


def _weights(model_folder: Path) -> str:
    """The base's weight files with their SHA-256: the base's name alone says little."""
    named = []
    for file in sorted(model_folder.glob("*.safetensors")):
        with open_regular(file) as stream:
            named.append(f"{file.name} (SHA-256 {hashlib.file_digest(stream, 'sha256').hexdigest()})")
    return ", ".join(named)


def licence_of(path: Path) -> str:
    """The `license:` line in the front matter of the folder's README.md, empty where there is none."""
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
