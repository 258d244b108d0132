"""What every other package speaks: records, errors, settings and their file, sentences, statistics, durable files."""
