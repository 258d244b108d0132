"""Generators and trainers: the only package that imports torch, transformers, peft or llama.cpp."""
