"""The engine that answers through a remote server, by OpenAI's protocol."""
