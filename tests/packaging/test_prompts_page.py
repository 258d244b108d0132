"""The page of what models are asked."""

import pytest


@pytest.mark.usefixtures("scripts")
def test_the_page_shows_what_is_asked() -> None:
    import prompts_page

    assert prompts_page.PAGE.read_text(encoding="utf-8") == prompts_page.page(), "run packaging/prompts_page.py"
