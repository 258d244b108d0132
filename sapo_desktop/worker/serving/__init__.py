"""The local server: other programs on this computer ask the model by OpenAI's protocol.

- `http`: a connection, bounded in bytes and in time
- `chat`: OpenAI's requests, replies and errors
- `server`: who may ask, what is asked, answers whole or in a stream
- `local`: whether it runs, at which port, with which key
"""
