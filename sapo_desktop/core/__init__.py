"""The shared vocabulary of all other packages: records, errors, settings, sentences, statistics and durable files."""
