"""The parts of all pages: texts, buttons, cards, tables, and messages for empty places."""
