"""Explicit forward passes of Llama, Qwen2, Qwen3 and SmolLM3."""
