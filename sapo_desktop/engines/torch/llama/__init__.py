"""Llama, Qwen2, Qwen3 and SmolLM3 written out."""
