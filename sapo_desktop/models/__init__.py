"""Which models exist (`catalogue`), what fits a computer (`fit/`), and where files come from and are stored
(`files/`)."""
