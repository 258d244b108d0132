import time

from sapo_desktop.core.models import Contents
from sapo_desktop.view.plain import plain
from sapo_desktop.worker.control.messages.models import ModelsAre
from sapo_desktop.worker.control.messages.replies import IdentityIs
from tests.gui.staged_model import INFO, a_fit, installed


def test_a_harmless_record_stays_as_it_is() -> None:
    for record in (INFO, a_fit(), a_fit(True)):
        assert plain(record) == record


def test_every_text_within_is_made_plain() -> None:
    evil = "a\u202eb\x1b[31m\nc" + "x" * 65536
    models = [installed("m", evil, 5)]
    found = plain(ModelsAre(folder=evil, contents=Contents(models=models, damaged={evil: evil})))
    texts = [found.folder, found.contents.models[0].source, *found.contents.damaged, *found.contents.damaged.values()]
    for text in texts:
        assert text.startswith("ab c") and len(text) == 400


def test_what_is_no_text_is_left_alone() -> None:
    held = IdentityIs(key="ab", kept="file", sealed=b"\x00\x1b")
    assert plain(held) == held
    assert plain(3.5) == 3.5 and plain(None) is None


def test_ten_thousand_models_take_no_second() -> None:
    contents = Contents(models=[installed(f"m{at}", "x/y", 5) for at in range(10_000)])
    began = time.monotonic()
    plain(contents)
    assert time.monotonic() - began < 3  # a busy machine's; it takes a tenth of that
