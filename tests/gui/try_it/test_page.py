"""Try it: requests to the worker and their times, the shown replies, and hostile text that stays text."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import ContextFull, NotRunning, TaskError
from sapo_desktop.core.records import Exchange
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.try_it.answers import PromptSheet
from sapo_desktop.gui.try_it.page import MOST_TRIES, TryPage
from sapo_desktop.gui.try_it.words import EXAMPLE_QUESTIONS
from sapo_desktop.gui.words import language
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.completion import without_tags
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import ALL
from sapo_desktop.worker.control.messages.asking import MOST_TURNS, Ask, Asked, AskProgressed, SetQuestion, TryTask
from sapo_desktop.worker.control.messages.replies import Tasks
from sapo_desktop.worker.control.messages.requests import ListTasks
from tests.builders import task_info
from tests.gui import scenes, staged_try
from tests.gui.driving import button, press, shown, texts
from tests.gui.late import LateBridge
from tests.gui.stage import StageBridge
from tests.gui.staged_try import BASE, LAST, QUESTION


def a_page(qtbot: QtBot, bridge: StageBridge) -> TryPage:
    return shown(qtbot, TryPage(bridge.view, bridge, Actions(bridge.view, bridge)), 900, 800)


def late(*kinds: type) -> LateBridge:
    bridge = LateBridge(scenes.a_view(scenes.silo_curve()), *kinds)
    staged_try.stage(bridge)
    return bridge


def ask_own(page: TryPage, question: str) -> None:
    writing = page._question._own
    writing.setFocus()
    QTest.keyClicks(writing, question)
    QTest.keyClick(writing, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def bridge(qapp: object) -> StageBridge:
    bridge = StageBridge(scenes.a_view(scenes.silo_curve()))
    staged_try.stage(bridge)
    return bridge


@pytest.fixture
def page(qtbot: QtBot, bridge: StageBridge) -> TryPage:
    return a_page(qtbot, bridge)


@pytest.fixture
def slow(qtbot: QtBot) -> tuple[TryPage, LateBridge]:
    """A page whose question is under way, and the bridge that answers it on request."""
    bridge = late(Ask)
    page = a_page(qtbot, bridge)
    ask_own(page, "Why?")
    return page, bridge


def test_nothing_is_asked_before_somebody_asks(page: TryPage, bridge: StageBridge) -> None:
    assert bridge.asked == [ListTasks(examples=False)]
    assert "Nothing asked yet" in texts(page)
    assert not button(page, "Ask both").isEnabled() and not button(page, "Stop").isEnabled()


def test_an_own_question_by_keyboard_shows_both_answers_with_their_figures(page: TryPage, bridge: StageBridge) -> None:
    ask_own(page, "Why?")
    first, second = bridge.asked_for(Ask)
    assert (first.question, first.checkpoint, first.greedy) == ("Why?", "base", True)
    assert (second.question, second.checkpoint, second.greedy) == ("Why?", "last", True)
    assert first.stream and second.stream and first.stream != second.stream
    said = texts(page)
    assert {"2", "1"} <= set(said) and not any("<answer>" in text for text in said)
    assert {part.rpartition("\n")[0] for part in (BASE, LAST)} <= set(said), "the steps before each answer"
    tokens = len(BASE) // 3
    assert f"{tr('%n token(s)', None, tokens)} in 1.9 s, {tokens / 1.9:.1f} per second" in said
    assert not bridge.asked_for(TryTask) and "Right" not in said


def test_an_example_is_asked_at_a_click(page: TryPage, bridge: StageBridge) -> None:
    press(page, "A word spelled backward")
    assert [ask.question for ask in bridge.asked_for(Ask)] == [EXAMPLE_QUESTIONS[1]] * 2
    assert page.focusWidget() is page._question._own, "the keyboard stays on the page"


def test_a_tasks_question_is_shown_then_answered_then_marked_and_the_truth_comes_last(qtbot: QtBot) -> None:
    bridge = late(TryTask)
    page = a_page(qtbot, bridge)
    press(page, "a task's")
    press(page, "Pick a question")
    assert bridge.asked_for(SetQuestion) == [SetQuestion(task=page._question._task.question.task)]
    assert QUESTION in texts(page) and "Expected: a whole number, like 42" in texts(page)
    assert not bridge.asked_for(Ask)
    press(page, "random words")
    press(page, "Ask both")
    assert [(ask.question, ask.checkpoint, ask.greedy) for ask in bridge.asked_for(Ask)] == [(QUESTION, "base", False)]
    assert "Scoring" in texts(page) and "Waiting for the other answer" in texts(page)
    assert "The right answer appears once both have answered." in texts(page)
    bridge.deliver(1)
    bridge.deliver(1)
    marks = bridge.asked_for(TryTask)
    assert [(mark.checkpoint, mark.answer, mark.seed) for mark in marks] == [
        ("base", BASE, 2**62 + 1),
        ("last", LAST, 2**62 + 1),
    ]
    assert {"Wrong", "Right", "The right answer: 1"} <= set(texts(page))
    press(page, "Another question")
    assert len(bridge.asked_for(SetQuestion)) == 2


def test_another_level_takes_the_question_away(page: TryPage) -> None:
    press(page, "a task's")
    press(page, "Pick a question")
    assert button(page, "Ask both").isEnabled()
    QTest.keyClick(page._question._task._level, Qt.Key.Key_Down)
    assert not button(page, "Ask both").isEnabled() and QUESTION not in texts(page)


def test_what_is_written_is_followed_and_only_while_somebody_looks(
    slow: tuple[TryPage, LateBridge], qtbot: QtBot
) -> None:
    page, bridge = slow
    assert "Waiting for the model" in texts(page) and "Waiting for the other answer" in texts(page)
    stream = bridge.asked_for(Ask)[0].stream
    bridge.streamed.emit(AskProgressed(stream=stream + 1, text="somebody else's", tokens=3))
    bridge.streamed.emit(AskProgressed(stream=stream, text="Becau", tokens=2))
    qtbot.waitUntil(lambda: "Becau" in texts(page))
    assert tr("Writing, %n token(s)", None, 2) in texts(page) and "somebody else's" not in texts(page)
    page.closed()
    bridge.streamed.emit(AskProgressed(stream=stream, text="Because", tokens=3))
    assert not page._drawing.isActive()
    page.opened()
    assert "Because" in texts(page)


def test_stop_gives_up_and_a_new_question_can_be_asked(slow: tuple[TryPage, LateBridge]) -> None:
    page, bridge = slow
    press(page, "Stop")
    assert bridge.cancelled == 1 and len(bridge.asked_for(Ask)) == 1
    assert texts(page).count("Stopped by you") == 2
    assert button(page, "Ask both").isEnabled() and not button(page, "Stop").isEnabled()


def test_a_side_that_fails_says_why_and_the_other_one_still_answers(slow: tuple[TryPage, LateBridge]) -> None:
    page, bridge = slow
    bridge.replies[Ask] = TaskError("The checkpoint is damaged: use another one.")
    bridge.deliver(1)
    bridge.replies[Ask] = staged_try.answer
    bridge.deliver(1)
    assert "No answer: The checkpoint is damaged: use another one." in texts(page)
    assert "1" in texts(page)


def test_replies_after_the_page_was_left_are_kept_for_its_return(slow: tuple[TryPage, LateBridge]) -> None:
    page, bridge = slow
    page.closed()
    for _ in range(2):
        bridge.deliver(1)
    page.opened()
    assert {"2", "1"} <= set(texts(page))


def test_the_history_shows_an_earlier_try_again(page: TryPage, bridge: StageBridge) -> None:
    for question in (*map(str, range(MOST_TRIES)), "First?", "Second?"):
        page._question.ask_own(question)
    table = page._history.table
    assert [one.draft.question for one in table.rows][:2] == ["Second?", "First?"] and len(table.rows) == MOST_TRIES
    table.setFocus()
    table.setCurrentIndex(table.model().index(1, 0))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert page._answers._question.text() == "First?"
    table.selectAll()
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert "First?" in copied and "me" in copied.split("\t") and "unknown task" not in copied


def test_without_a_node_nothing_can_be_asked_and_it_is_said(page: TryPage, bridge: StageBridge) -> None:
    ask_own(page, "Why?")
    bridge.tell(Lost(reason="It was killed."))
    assert "The node is not running, so it cannot answer. The page Home says why." in texts(page)
    assert not button(page, "Ask both").isEnabled()


def test_tasks_that_cannot_be_had_are_asked_for_again(bridge: StageBridge, qtbot: QtBot) -> None:
    bridge.replies[ListTasks] = NotRunning("The node is not running just now.")
    page = a_page(qtbot, bridge)
    press(page, "a task's")
    assert "The node is not running just now." in texts(page)
    bridge.replies[ListTasks] = staged_try.tasks()
    press(page, "Pick a question")
    assert "The node is not running just now." not in texts(page)
    press(page, "Pick a question")
    assert QUESTION in texts(page)


def test_a_task_that_came_is_offered_and_what_is_chosen_stays(page: TryPage, bridge: StageBridge) -> None:
    page._question.propose()
    task = page._question._task
    before = (task._family.current, task._level.current)
    bridge.replies[ListTasks] = Tasks(items=[*staged_try.tasks().items, task_info("mine", title="Mine")])
    page.refresh(ALL)
    assert task._family.findData("mine") >= 0
    titles = [task._family.itemText(at) for at in range(task._family.count())]
    assert titles == sorted(titles, key=str.casefold), "they stand by title"
    assert (task._family.current, task._level.current) == before and QUESTION in texts(page)
    bridge.replies[ListTasks] = Tasks(items=[task_info("mine", title="Mine")])
    page.refresh(ALL)
    assert (task._family.current, task.question) == ("mine", None), "the one that was chosen is gone"


@pytest.mark.parametrize("known", [True, False])
def test_it_turns_to_the_task_that_was_picked_elsewhere(qtbot: QtBot, known: bool) -> None:
    bridge = late(ListTasks)
    page = a_page(qtbot, bridge)
    bridge.deliver(1 if known else 0)
    page.turn_to("gcd")
    bridge.deliver()
    task = page._question._task
    assert task.isVisible() and (task._family.current, task._level.current) == ("gcd", "easy")


def test_a_question_of_no_task_is_reported_and_a_task_s_is_proposed(page: TryPage, bridge: StageBridge) -> None:
    ask_own(page, "Capital of France?")
    assert any("has practised its tasks" in text for text in texts(page))
    press(page, "Pick a random question from a task")
    assert bridge.asked_for(SetQuestion) and page._question._task.isVisible()


def test_the_focus_stays_with_asking(qtbot: QtBot, page: TryPage) -> None:
    page._question._own.setPlainText("Why?")
    page._question._go.setFocus()
    QTest.keyClick(page._question._go, Qt.Key.Key_Space)
    assert page._question._go.hasFocus(), "not on how the words are chosen"


# -- the chat ----------------------------------------------------------------------------------------------------


def test_a_second_question_goes_on_with_what_each_side_said_before(page: TryPage, bridge: StageBridge) -> None:
    ask_own(page, "Why?")
    ask_own(page, "And then?")
    *_, base, last = bridge.asked_for(Ask)
    assert base.turns == (Exchange(question="Why?", answer=BASE),)
    assert last.turns == (Exchange(question="Why?", answer=LAST),)
    said = texts(page)
    assert "Why?" in said and without_tags(BASE) in said, "what was said before stands below"
    used = 80 + len(BASE) // 3
    assert any(f"{used} of 512 tokens" in text for text in said)


def test_a_new_chat_forgets_and_a_task_s_question_is_asked_alone(page: TryPage, bridge: StageBridge) -> None:
    ask_own(page, "Why?")
    page._question.propose()
    press(page, "Ask both")
    assert [ask.turns for ask in bridge.asked_for(Ask)[2:]] == [(), ()]
    press(page, "New chat")
    assert not button(page, "New chat").isEnabled()
    ask_own(page, "What else?")
    assert [ask.turns for ask in bridge.asked_for(Ask)[4:]] == [(), ()]


def test_an_answer_that_was_stopped_or_failed_is_no_part_of_the_chat(slow: tuple[TryPage, LateBridge]) -> None:
    page, bridge = slow
    bridge.deliver(1)
    press(page, "Stop")
    ask_own(page, "Again?")
    bridge.deliver(2)  # the late answer, then the new one
    assert [len(ask.turns) for ask in bridge.asked_for(Ask)[-2:]] == [1, 0]


def test_a_chat_that_is_full_says_what_to_do(page: TryPage, bridge: StageBridge) -> None:
    bridge.replies[Ask] = ContextFull("This chat has 512 tokens by now. Start a new chat.")
    ask_own(page, "Why?")
    assert texts(page).count("No answer: This chat has 512 tokens by now. Start a new chat.") == 2
    bridge.replies[Ask] = staged_try.answer
    for number in range(MOST_TURNS):
        page._question.ask_own(str(number))
    assert len(page._chat) == MOST_TURNS
    troubles: list[str] = []
    bridge.trouble.connect(troubles.append)
    page._question.ask_own("One more?")
    assert len(troubles) == 1 and "Start a new chat" in troubles[0] and len(page._chat) == MOST_TURNS


def test_an_answer_is_copied_and_its_prompt_is_shown(page: TryPage, bridge: StageBridge) -> None:
    assert not page._answers._base.copy_answer.isEnabled() and not page._answers._base.show_prompt.isEnabled()
    ask_own(page, "<b>Why?")
    press(page._answers._last.copy_answer)
    assert QGuiApplication.clipboard().text() == LAST
    press(page._answers._base.show_prompt)
    (sheet,) = page.findChildren(PromptSheet)
    assert "<q><b>Why?<a>" in texts(sheet)
    press(sheet, "Copy")
    assert QGuiApplication.clipboard().text() == "<q><b>Why?<a>"
    sheet.close()


def test_the_chat_and_what_was_typed_survive_a_change_of_language(
    qtbot: QtBot, page: TryPage, bridge: StageBridge
) -> None:
    ask_own(page, "Why?")
    page._question._own.setPlainText("And th")
    language.speak("de")
    try:
        other = a_page(qtbot, bridge)
        other.take_over(page)
        other.opened()
        assert other._answers._question.text() == "Why?" and other._question._own.toPlainText() == "And th"
        other._question.ask_own("And then?")
    finally:
        language.speak("en")
    assert bridge.asked_for(Ask)[-1].turns == (Exchange(question="Why?", answer=LAST),)


def test_what_was_said_before_is_text_whatever_it_says(page: TryPage, bridge: StageBridge) -> None:
    bridge.replies[Ask] = lambda request: Asked(text="<b>bold</b>\u202e\x1b[2J", tokens=2, seconds=1.0)
    ask_own(page, "<img src=x>")
    ask_own(page, "And?")
    earlier = page._answers._earlier.findChildren(QLabel)
    assert [one.textFormat() for one in earlier] == [Qt.TextFormat.PlainText] * len(earlier) and earlier
    assert not any(sign in text for text in texts(page) for sign in ("\u202e", "\x1b"))
