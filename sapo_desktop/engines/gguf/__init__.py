"""Models and adapters written as GGUF files, for llama.cpp."""
