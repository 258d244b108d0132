"""The peak memory of an engine process: a pure function of the model's shape and the requested work.

Each part has one formula, derived from what the code keeps (engines/torch/trainer.py, llama/, generation.py,
logprobs.py). The few constants that cannot be derived were measured on Linux by tests/bench/engines/memory.py, which
compares every estimate with a measured peak (docs/fit.md). Graphics cards use the same formulas with constants of one
card (tests/bench/engines/card.py), Macs with unmeasured ones. Left out: decisions based on the numbers
(models/fit/ways.py).

Letters as in the literature: d hidden, q and k the widths of all query and key heads, f feed-forward, H heads, V
vocabulary, T length of a sequence.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sapo_desktop.core.fitting import Device, Parts
from sapo_desktop.models.fit.shape import ModelShape

MB = 1_000_000
PACKED_PARAMETERS = 64_000_000
"""As in engines/torch/llama/passes.py: up to this size, the engine uses packed copies of the weights."""
FLOAT32_PARAMETERS = 100_000_000
"""As in engines/torch/lm.py: smaller models compute in float32."""

TORCH_RUNTIME = 285 * MB
"""Python with torch, transformers and peft, the host's own modules."""
BARE_RUNTIME = 175 * MB
"""The same for a small Llama, which needs neither transformers nor peft (engines/torch/llama/bare.py)."""
UNLOADED_RUNTIME = 163 * MB
"""Memory of an engine's process before it loads a model."""
TOKENIZER_BYTES = 900
"""Per word of the vocabulary, in the tokenizers library."""
LLAMA_RUNTIME = 37 * MB
"""Python with llama.cpp and numpy."""
LLAMA_WORD_BYTES = 350
"""Per word of the vocabulary, in llama.cpp."""
CUDA_RUNTIME = 2_500 * MB
"""Main memory for CUDA's libraries. 1.2 GB were measured in addition to the model's file (docs/fit.md, "On a card")."""
CUDA_CONTEXT = 920 * MB
"""Card memory that no allocator counts: 850 to 902 MB on an H200, less on smaller cards."""
CUDA_WORKSPACES = 100 * MB
"""Card memory for cuBLAS's work areas, with one more for recordings; PyTorch's allocator counts it."""

CHUNK = 32 * 1024 * 1024
"""engines/torch/logprobs.py: one chunk of logits in float32."""
DRAW_BLOCK = 64 * 1024 * 1024
"""engines/torch/generation.py: maximum memory for drawing tokens."""
DRAW_BYTES = 28
PREFILL_TOKENS = 2048
"""engines/torch/llama/decoding.py: prompt tokens read at once."""
CPU_TOKENS = 512
"""engines/torch/trainer.py: tokens of a micro-batch with several sequences, on a processor."""
PROMPT_TOKENS_AT_ONCE = 4096
"""engines/torch/service.py: tokens of different prompts in the cache of packed models."""
UBATCH = 512
"""Tokens that llama.cpp processes at once."""
STREAM_STEP = 256
"""llama.cpp rounds the length of a stream up to this many tokens, and writes all of it at the start."""

HEAP_HOLES = 1.4
"""The C library cannot reuse a freed aligned block for the next request of the same size, so temporary tensors leave
holes: 1.2 to 1.9 times the memory in use was measured."""
CACHE_HOLES = 1.2
"""The same for packed models while answering, whose cache is reallocated as it grows."""
MAPPED_HOLES = 1.1
"""Large models train with every tensor above half a megabyte mapped separately (engines/torch/memory.py); smaller
tensors still leave holes: 1.0 to 1.15 times."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the engines do at once."""

    prompts: int
    """Different questions read together."""
    batch: int
    """Answers generated at once."""
    micro_batch: int
    prompt_tokens: int
    max_tokens: int
    method: Literal["lora", "full"] = "lora"
    rank: int = 8
    recompute: bool = False
    """Whether the backward pass recomputes each layer's tensors."""
    overlap: bool = False
    """Whether a process that answers and learns does both at the same time."""

    @property
    def length(self) -> int:
        """Tokens of the longest sequence."""
        return self.prompt_tokens + self.max_tokens


class TorchModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as torch stores it."""

    shape: ModelShape
    architecture: str
    width: Literal[2, 4]
    """Bytes per weight: bfloat16 or float32."""
    device: Device = "cpu"
    rounded: bool = False
    """Whether the matrices of its blocks are stored in 8 bits."""

    @property
    def parameters(self) -> int:
        return self.shape.parameters(self.architecture)

    @property
    def bare(self) -> bool:
        """Whether it is stored as weights alone."""
        return self.packed and self.architecture == "LlamaForCausalLM" and self.width == 4

    @property
    def packed(self) -> bool:
        """Whether it computes with packed copies of its weights."""
        return self.parameters <= PACKED_PARAMETERS


def torch_width(parameters: int, device: Device, fast_bfloat16: bool) -> Literal[2, 4]:
    """Bytes per weight in torch: float32 for small models, and if the processor computes bfloat16 slowly."""
    if parameters < FLOAT32_PARAMETERS or (device == "cpu" and not fast_bfloat16):
        return 4
    return 2


def answering(model: TorchModel, work: Work) -> Parts:
    """Peak of a torch process while it answers; `learning` includes an adapter trained in between."""
    if model.packed:
        most = max(1, PROMPT_TOKENS_AT_ONCE // max(1, work.prompt_tokens))
        work = msgspec.structs.replace(work, prompts=min(work.prompts, most))
    holes = 1.0 if model.device != "cpu" else CACHE_HOLES if model.packed else HEAP_HOLES
    return Parts(
        weights=_weights(model) + _packed(model),
        activations=int(holes * _decoding_tensors(model, work)) + _whole(model),
        logits=int(holes * _drawing(model, work)),
        kv_cache=int(holes * kv_cache(model, work)),
        runtime=_runtime(model),
    )


def learning(model: TorchModel, work: Work) -> Parts:
    """Peak of a torch process during a training step."""
    holes = 1.0 if model.device != "cpu" else HEAP_HOLES if model.packed else MAPPED_HOLES
    trained = model.parameters if work.method == "full" else model.shape.adapter_parameters(work.rank)
    copies = 2 if work.method == "full" else 1  # full training keeps both the base and the initial values
    return Parts(
        weights=_weights(model) + _packed(model),
        # Weights of the adapter (full training: none besides the model's), the initial values for a reset, and the
        # average of recent steps.
        adapter=4 * trained * (copies + 1 if work.method == "full" else 3),
        optimiser=8 * trained,
        gradients=4 * trained,
        activations=int(holes * saved_for_backward(model, work)) + _whole(model),
        logits=_chunks(model, work),
        runtime=_runtime(model),
    )


def both(model: TorchModel, work: Work) -> Parts:
    """Peak of a torch process that answers and learns. In turns, the larger of the two counts, plus adapter and
    optimiser; at the same time, the sum."""
    learn, answer = learning(model, work), answering(model, work)
    if work.overlap:
        moving = Parts(activations=answer.activations, logits=answer.logits, kv_cache=answer.kv_cache)
        return learn + moving + Parts(weights=_packed(model))  # each with its own packed weights
    standing = Parts(adapter=learn.adapter, optimiser=learn.optimiser)
    return max(learn, answer + standing, key=lambda parts: parts.total)


def llama_answering(shape: ModelShape, weight_bytes: int, work: Work, *, cache_width: int = 2) -> Parts:
    """Peak of a llama.cpp process: file, full-length cache of every stream, the buffers of one micro-batch."""
    tokens = min(UBATCH, max(work.batch, work.prompt_tokens))
    widest = max(4 * shape.ffn, 3 * shape.query + 2 * shape.key)
    return Parts(
        weights=weight_bytes,
        activations=4 * tokens * (widest + 4 * shape.hidden) + 4 * tokens * work.length,
        logits=2 * 4 * shape.vocabulary * max(work.batch, 1),
        kv_cache=work.batch * -(-work.length // STREAM_STEP) * STREAM_STEP * shape.kv_numbers() * cache_width,
        runtime=LLAMA_RUNTIME + LLAMA_WORD_BYTES * shape.vocabulary,
    )


def kv_cache(model: TorchModel, work: Work) -> int:
    """Keys and values of all answers at full length; those of a prompt are stored once."""
    tokens = work.prompts * work.prompt_tokens + work.batch * work.max_tokens
    return tokens * model.shape.kv_numbers() * model.width


def saved_for_backward(model: TorchModel, work: Work) -> int:
    """What autograd stores for a micro-batch between the passes.

    Per token and layer in float32, all of 4 bytes: the inputs of the two norms (2 d), the inputs of each linear layer's
    adapter (attention's and the feed-forward's, 2 d; the output's, q; down's, f), attention's queries, keys, values and
    output (2 q, 3 k), gate, silu and up (3 f), and a sum per head. In bfloat16, norms still use float32, and on a
    processor attention does. With recomputation, a layer keeps only its input (d) until its turn comes.
    """
    s = model.shape
    tokens = _tokens_a_pass(model, work)
    layer = _layer(model) + (8 * s.hidden if work.method == "full" else 0)  # full training also trains norms
    if work.recompute:
        return tokens * (s.layers * s.hidden * model.width + layer + 4 * s.hidden)
    return tokens * (s.layers * layer + 4 * s.hidden)


def _layer(model: TorchModel) -> int:
    s, width = model.shape, model.width
    d, q, k, f = s.hidden, s.query, s.key, s.ffn
    attention = 4 if model.device == "cpu" else width
    token = 2 * (4 + width) * d + width * (q + 4 * f) + attention * (2 * q + 3 * k) + 4 * s.heads
    if model.architecture == "Qwen3ForCausalLM":
        token += 4 * (q + k)  # queries and keys before their norm
    return token


def _tokens_a_pass(model: TorchModel, work: Work) -> int:
    """Tokens of a micro-batch."""
    tokens = work.micro_batch * work.length
    return min(tokens, max(work.length, CPU_TOKENS)) if model.device == "cpu" else tokens


def tensors_of(card_memory: int) -> int:
    """Memory available to PyTorch's tensors, given a limit for the process on a card. PyTorch's own limit excludes
    CUDA's context, while the driver's numbers include it. 0 (no limit) stays 0."""
    return max(1, card_memory - CUDA_CONTEXT) if card_memory else 0


def _weights(model: TorchModel) -> int:
    saved = (model.width - 1) * model.shape.linear_weights if model.rounded else 0
    return model.parameters * model.width - saved


def _whole(model: TorchModel) -> int:
    """The largest matrix, restored from 8 bits for a product."""
    return model.width * max(i * o for i, o in model.shape.projections) if model.rounded else 0


def _packed(model: TorchModel) -> int:
    """The fused copies of the weights that an explicit model computes with."""
    return model.shape.linear_weights * model.width if model.packed else 0


def _runtime(model: TorchModel) -> int:
    if model.device == "cuda":
        return CUDA_CONTEXT + CUDA_WORKSPACES
    return (BARE_RUNTIME if model.bare else TORCH_RUNTIME) + TOKENIZER_BYTES * model.shape.vocabulary


def _chunks(model: TorchModel, work: Work) -> int:
    """Chunked log-softmax: one chunk in float32; in half precision also its source and gradient."""
    rows = min(work.micro_batch * work.max_tokens, _tokens_a_pass(model, work))
    chunk = min(CHUNK, 4 * model.shape.vocabulary * rows)
    return chunk if model.width == 4 else 2 * chunk


def _drawing(model: TorchModel, work: Work) -> int:
    """Logits of one step while the next are computed, and a block for drawing."""
    logits = work.batch * model.shape.vocabulary * model.width
    return max(2 * logits, logits + min(DRAW_BLOCK, DRAW_BYTES * work.batch * model.shape.vocabulary))


def _decoding_tensors(model: TorchModel, work: Work) -> int:
    """The tensors of one layer, while prompts are read or a token is decoded, whichever is larger."""
    s = model.shape
    read = min(work.prompts * work.prompt_tokens, max(PREFILL_TOKENS, work.prompt_tokens))
    # Attention: scores twice, queries three times, repeated keys and values. Feed-forward: five tensors of its width.
    scores = 2 * 4 * s.heads * work.prompt_tokens if model.device == "cpu" else 0
    reading = read * (4 * s.hidden * 4 + max(scores + 5 * s.query * model.width, 5 * s.ffn * model.width))
    decoding = work.batch * work.length * 4 * 4 * s.heads  # scores of prompts are stored twice
    grown = 0 if model.packed else work.batch * work.length * 2 * s.key * model.width  # a layer's cache while it grows
    if model.device == "cuda":  # a recorded step has its own tensors
        return reading + decoding + grown
    return max(reading, decoding + grown)
