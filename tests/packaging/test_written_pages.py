"""Generated pages: prompts, and the notebook of the tinkerers' tutorial."""

import json
import shlex

import pytest

pytestmark = pytest.mark.usefixtures("scripts")


def test_the_page_shows_what_is_asked() -> None:
    import prompts_page

    assert prompts_page.PAGE.read_text(encoding="utf-8") == prompts_page.page(), "run packaging/prompts_page.py"


def test_the_notebook_is_that_of_the_page() -> None:
    import notebook

    page = notebook.PAGE.read_text(encoding="utf-8")
    assert notebook.NOTEBOOK.read_text(encoding="utf-8") == notebook.notebook(page), "run packaging/notebook.py"


def test_commands_become_cells_and_other_programs_stay_text() -> None:
    import notebook

    page = (
        "# T\n\n## In half an hour\n\nFirst:\n\n    sapo-desktop fit\n    .venv/bin/python x.py 'a b'\n\nThen:\n\n"
        "    ollama run x\n\n## Further\n\n    sapo-desktop doctor\n"
    )
    cells = json.loads(notebook.notebook(page))["cells"][2:]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == [
        ("markdown", "First:"),
        ("code", "!{sapo} fit\n!{python} x.py 'a b'"),
        ("markdown", "Then:"),
        ("markdown", "    ollama run x"),
    ]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    assert shlex.split(notebook.FIRST_CELL.splitlines()[-2].partition(" = ")[2]) == [".venv/bin/python"]
