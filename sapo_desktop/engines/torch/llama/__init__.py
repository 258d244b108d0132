"""Llama, Qwen2 and Qwen3 written out."""
