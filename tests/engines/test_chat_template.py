"""Chat templates rendered without transformers, against transformers' own rendering."""

import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from sapo_desktop.core.errors import EndlessTemplate, ModelError
from sapo_desktop.engines.chat_template import A_DAY, ChatTemplate, Piece
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import HostOptions, kind_of_service
from tests.engines import chat_templates
from tests.engines.export_models import starter_like_tokenizer
from tests.engines.real_models import KINDS

TEXT = '  What is 2 + 2?\n<b>&"quoted" é'
SHOWN = [("What is 1 + 1?", "1 + 1 = 2\n<answer>2</answer>"), ("Turn é' around.", "<answer>é'</answer>")]
TEMPLATES = chat_templates.TEMPLATES | {name: kind.template for name, kind in KINDS.items()}
CONVERSATIONS: dict[str, tuple[str, Sequence[tuple[str, str]]]] = {
    "a question": ("", ()),
    "after instructions": ("Be brief.\nReally.", ()),
    "after an exchange": ("", SHOWN[:1]),
    "after instructions and two exchanges": ("Be brief.", SHOWN),
}


@pytest.mark.parametrize("conversation", CONVERSATIONS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_the_prompt_is_the_one_that_transformers_makes(name: str, conversation: str) -> None:
    system, shown = CONVERSATIONS[conversation]
    messages = [{"role": "system", "content": system}] if system else []
    for question, answer in shown:
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    messages.append({"role": "user", "content": TEXT})
    tokenizer = starter_like_tokenizer()
    tokenizer.bos_token, tokenizer.chat_template = "<s>", TEMPLATES[name]
    special = {"bos_token": "<s>", "eos_token": "<eos>", "pad_token": "<pad>"}
    template = ChatTemplate(TEMPLATES[name], special)
    options = {"add_generation_prompt": True, "tokenize": False, "enable_thinking": False}
    if name in chat_templates.NO_SYSTEM and system:
        with pytest.raises(Exception, match="System role not supported"):
            tokenizer.apply_chat_template(messages, **options)
        with pytest.raises(ModelError, match="does not accept a question: System role not supported"):
            template.user_turn(TEXT, system, shown)
        return
    expected = tokenizer.apply_chat_template(messages, **options)
    for form in ("%Y-%m-%d", "%d %b %Y", "%d %B %Y"):
        expected = expected.replace(date.today().strftime(form), A_DAY.strftime(form))
    assert template.user_turn(TEXT, system, shown) == expected


def test_a_prompt_is_cut_around_what_is_said() -> None:
    template = ChatTemplate(
        "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{% endfor %}>", {}
    )
    assert template.pieces(" c ", "s", [("a ", "b")]) == [
        *(Piece("[system]s[user]", True), Piece("a", False), Piece("[assistant]", True), Piece("b", False)),
        *(Piece("[user]", True), Piece("c", False), Piece(">", True)),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[-1].content }}",
        "{% for m in messages | reverse %}{{ m.content }}{% endfor %}",
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ messages[0].content }}",
        "{% for m in messages %}{{ m.content if m.role == 'user' else m.content | upper }}{% endfor %}",
    ],
)
def test_a_template_that_does_not_show_an_exchange_as_it_is_is_refused(source: str) -> None:
    with pytest.raises(ModelError, match="The model's chat template changes the question"):
        ChatTemplate(source, {}).user_turn("c", shown=[("a", "b")])


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no user turns') }}",
        "{{ messages[7].content }}",
        "{{ messages.__class__.__mro__[1].__subclasses__() }}",
        "{% if messages.append(1) %}{% endif %}",
        "{{ update(a=1) }}",
        "{{ 1 // 0 }}",
    ],
)
def test_a_template_that_fails_or_wants_out_of_its_language_is_refused(source: str) -> None:
    with pytest.raises(ModelError, match="The model's chat template does not accept a"):
        ChatTemplate(source, {}).user_turn(TEXT)


def test_a_template_that_is_no_jinja_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ChatTemplate("{% for m in messages %}", {})


BOUNDED = {
    "text without end": "{{ messages[0].content * 10**9 }}",
    "text before it is read": "{{ 'a' * 10**9 }}",
    "doubled": "{% set ns = namespace(s='aa') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "formatted": "{{ '%1000000000d' | format(1) }}",
    "indented": "{{ 'a\n' | indent(10**9) }}",
    "joined": "{{ range(99999) | map('string') | join('x' * 10**6) }}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "macros": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
        "{{ f(60) }}{{ messages[0].content }}"
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_template_of_too_many_steps_or_too_much_text_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="too much time or memory"):
        ChatTemplate(BOUNDED[name], {})


ENDLESS = {
    "a list doubled": "{% set ns.l = ns.l + ns.l %}",
    "a tree": "{% set ns.l = [ns.l, ns.l] %}",
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer of the processor's time")
@pytest.mark.parametrize("name", ENDLESS)
async def test_a_template_that_no_step_count_bounds_ends_its_host_and_is_named(name: str, tmp_path: Path) -> None:
    source = f"{{% set ns = namespace(l=[1]) %}}{{% for i in range(60) %}}{ENDLESS[name]}{{% endfor %}}{{{{ ns.l }}}}"
    root = str(Path(__file__).resolve().parents[2])
    service = "tests.engines.chat_templates:Service"
    options = HostOptions(kind=kind_of_service(service), log=tmp_path / "log", env={"PYTHONPATH": root})
    host = await Host.start(options)
    try:
        with pytest.raises(EndlessTemplate, match="takes too much time or memory"):
            await host.call(chat_templates.Template(source), 60.0)
        assert host.pid is None
        await host.restart()
        assert (await host.call(chat_templates.Template("{{ messages[0].content }}>"), 60.0)).text == "2 + 2?>"
    finally:
        await host.stop()


SHORT_OF_MEMORY = """
import resource, signal
from sapo_desktop.engines.chat_template import ChatTemplate
resource.setrlimit(resource.RLIMIT_DATA, (200_000_000,) * 2)
try:
    ChatTemplate("{{ messages[0].content }}>", {})
except MemoryError:
    print(signal.getitimer(signal.ITIMER_PROF))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts allocated memory on Linux only")
def test_too_little_memory_for_a_template_is_a_lack_of_memory_and_leaves_no_timer() -> None:
    done = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, timeout=120)
    assert done.stdout == "(0.0, 0.0)\n", done.stderr


DEEP = {
    "not": "{{ " + "not " * 24_990 + "1 }}",
    "minus": "{{ " + "-" * 99_990 + "1 }}",
    "filters": "{{ 1" + "|e" * 49_990,
}
DEEP |= {"attributes": "{{ a" + ".a" * 49_990 + " }}", "cases": "{% if 0 %}" + "{%elif 0%}" * 9_990 + "{% endif %}"}


@pytest.mark.parametrize("name", DEEP)
def test_a_template_that_nests_without_end_leaves_the_process(name: str) -> None:
    """A stack that overflows would end it without a word."""
    lines = (
        "import sys\nfrom sapo_desktop.engines.chat_template import ChatTemplate\nChatTemplate(sys.stdin.read(), {})"
    )
    done = subprocess.run([sys.executable, "-c", lines], input=DEEP[name], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "ModelError: The model's chat template" in done.stderr


def test_a_template_like_a_book_is_refused() -> None:
    with pytest.raises(ModelError, match="more than 100,000 characters"):
        ChatTemplate(" " * 100_001, {})


def test_a_prompt_is_no_book() -> None:
    with pytest.raises(ModelError, match="more than 50,000 characters"):
        ChatTemplate("x" * 50_000 + "{{ messages[0].content }}", {})


@pytest.mark.parametrize("deep", ["{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "{% if 1 %}" * 5000])
def test_a_template_nested_beyond_measure_is_refused(deep: str) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ChatTemplate(deep, {})


@pytest.mark.parametrize(
    "source",
    [
        "no question at all",
        "{{ messages[0].content }}{{ messages[0].content }}",
        "{{ messages[0].content | upper }}",
        "{{ messages[0].content | replace('\n', ' ') }}",
        "{{ messages[0].content[:5] }}",
        "{{ messages | tojson }}",
    ],
)
def test_a_template_that_rewrites_the_question_is_refused(source: str) -> None:
    with pytest.raises(ModelError, match="The model's chat template changes the question"):
        ChatTemplate(source, {})


def test_what_a_template_says_of_a_system_message_is_said() -> None:
    refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    source = refusal + "{{ messages[0].content }}"
    template = ChatTemplate(source, {})
    assert template.user_turn("a") == "a"
    with pytest.raises(ModelError, match="does not accept a question: no system"):
        template.user_turn("a", system="Be brief.")
