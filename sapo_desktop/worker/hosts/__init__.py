"""The processes that compute for the worker: started, called, suspended and ended here."""
