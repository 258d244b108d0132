"""The engine that answers by llama.cpp. It never loads torch."""
