"""The processes that compute for the worker: how they are started, asked, suspended and ended."""
