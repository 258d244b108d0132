"""The parts that every page is made of: texts, buttons, cards, tables, and what says that there is nothing yet."""
