"""The task catalogue, the answer grammars, and the examiner that sets questions and marks answers."""
