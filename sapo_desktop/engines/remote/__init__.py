"""The engine that answers over a server elsewhere, by OpenAI's protocol."""
