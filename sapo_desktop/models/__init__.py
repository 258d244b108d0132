"""Which models there are (`catalogue`), what fits a computer (`fit/`), and where files come from and lie (`files/`)."""
