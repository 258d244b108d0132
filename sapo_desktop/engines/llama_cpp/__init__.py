"""The engine that answers with llama.cpp. It never imports torch."""
