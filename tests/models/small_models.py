"""Models of a few hundred kilobytes, in both layouts, as bytes."""

import json
import random
import struct

CONFIG = {"architectures": ["LlamaForCausalLM"], "vocab_size": 300, "max_position_embeddings": 512}


def headed(header: object, content: bytes) -> bytes:
    """A safetensors file with that header, whatever it says."""
    raw = json.dumps(header).replace("Infinity", "1e999").encode()
    return struct.pack("<Q", len(raw)) + raw + content


def _one_tensor(content: bytes) -> bytes:
    count = len(content) // 4
    return headed({"w": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}, content)


def safetensors(count: int = 50_000, seed: int = 1) -> bytes:
    """One F32 tensor of so many random numbers."""
    return _one_tensor(random.Random(seed).randbytes(4 * count))


def zeros(count: int) -> bytes:
    """One F32 tensor of so many zeros, quickly made."""
    return _one_tensor(bytes(4 * count))


def transformers_files(count: int = 50_000, **config: object) -> dict[str, bytes]:
    return {
        "config.json": json.dumps(CONFIG | config).encode(),
        "tokenizer.json": json.dumps({"model": {}}).encode(),
        "tokenizer_config.json": b"{}",
        "model.safetensors": safetensors(count),
        "README.md": b"# A model\n",
    }


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: object) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + _string(value)
        case int():
            return struct.pack("<II", 4, value) if value < 1 << 32 else struct.pack("<IQ", 10, value)
        case list():
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_string(str(one)) for one in value)
    raise TypeError(value)


def gguf(entries: dict[str, object] | None = None, rows: int = 64, version: int = 3) -> bytes:
    """Two tensors: F32 of 32 x rows, and Q8_0 of the same shape."""
    vocabulary = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": ["a", "b"]}
    metadata = {"general.architecture": "llama"} | vocabulary | (entries or {})
    tensors = [("token_embd.weight", 0, 32 * rows * 4), ("output.weight", 8, rows * 34)]
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += _string(key) + _value(value)
    offset = 0
    for name, kind, size in tensors:
        out += _string(name) + struct.pack("<IQQIQ", 2, 32, rows, kind, offset)
        offset += -(-size // 32) * 32
    out += b"\0" * (-len(out) % 32)
    return out + random.Random(2).randbytes(offset)
