"""The task catalogue, the answer grammars, and the examiner that makes questions and scores answers."""
