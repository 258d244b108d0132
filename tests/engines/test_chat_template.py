"""Chat templates rendered without transformers, against transformers' own rendering."""

import subprocess
from datetime import date
from typing import Any

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.engines import chat_template, template_child
from sapo_desktop.engines.chat_template import A_DAY, ChatTemplate
from tests.engines.export_models import starter_like_tokenizer

TEXT = '  What is 2 + 2?\n<b>&"quoted" é'
TEMPLATES = {
    "roles between marks": """
{%- if messages[0]['role'] != 'system' %}
    {{- '<|start|>system\\nBe brief.<|end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|start|>' + message.role + '\\n' + message.content + '<|end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- 'no thinking' }}{%- endif %}
{%- endif %}
""",
    "special tokens and a date": (
        "{{- eos_token }}{% set today = strftime_now('%Y-%m-%d') %}{{ today }}\n"
        "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}"
    ),
    "tools, a loop that ends, a namespace": """
{% set ns = namespace(seen=0) %}
{% if tools %}{{ tools | tojson }}{% endif %}
{% for m in messages %}
  {% if ns.seen > 3 %}{% break %}{% endif %}
  {% set ns.seen = ns.seen + 1 %}
  {% generation %}{{ m.role | tojson }}{{ m.content }}{% endgeneration %}
{% endfor %}
""",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_prompt_is_the_one_that_transformers_makes(name: str) -> None:
    tokenizer = starter_like_tokenizer()
    tokenizer.chat_template = TEMPLATES[name]
    turn = [{"role": "user", "content": TEXT}]
    expected = tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False, enable_thinking=False)
    expected = expected.replace(date.today().isoformat(), A_DAY.isoformat())
    special = {"eos_token": "<eos>", "pad_token": "<pad>"}
    assert ChatTemplate(TEMPLATES[name], special).user_turn(TEXT) == expected


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no user turns') }}",
        "{{ messages[7].content }}",
        "{{ messages.__class__.__mro__[1].__subclasses__() }}",
        "{% if messages.append(1) %}{% endif %}",
        "{{ 1 // 0 }}",
    ],
)
def test_a_template_that_fails_or_wants_out_of_its_sandbox_is_refused(source: str) -> None:
    with pytest.raises(ModelError, match="does not take a question"):
        ChatTemplate(source, {}).user_turn(TEXT)


def test_a_template_that_is_no_jinja_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ChatTemplate("{% for m in messages %}", {})


ENDLESS = {
    "text without end": "{{ messages[0].content * 10**9 }}",
    "a list without end": "{{ ([0] * 10**9) | length }}",
    "text before it is read": "{{ 'a' * 10**9 }}",
    "doubled": "{% set ns = namespace(s='aa') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    "centred": "{{ 'a' | center(10**10) }}",
    "formatted": "{{ '%1000000000d' | format(1) }}",
    "formatted by itself": "{{ '{:2000000000d}'.format(1) }}",
    "indented": "{{ 'a\n' | indent(10**9) }}",
    "joined": "{{ range(99999) | map('string') | join('x' * 10**6) }}",
    "a source longer than any": " " * 1_000_001,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_template_that_fills_the_memory_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="too much time or memory"):
        ChatTemplate(ENDLESS[name], {})


FOR_HOURS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "macros": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
        "{{ f(60) }}{{ messages[0].content }}"
    ),
}


@pytest.mark.parametrize("name", FOR_HOURS)
def test_a_template_that_counts_for_hours_is_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "CPU_SECONDS", 1)
    with pytest.raises(ModelError, match="too much time or memory"):
        ChatTemplate(FOR_HOURS[name], {})


def test_where_the_system_knows_no_limits_the_clock_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "PATIENCE", 0.01)
    with pytest.raises(ModelError, match="too much time or memory"):
        ChatTemplate("{{ messages[0].content }}, asked in a hurry", {})


def test_a_process_that_was_suspended_is_asked_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    run = subprocess.run

    def suspended(command: list[str], **options: Any) -> Any:
        monkeypatch.setattr(chat_template.subprocess, "run", run)
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(chat_template.subprocess, "run", suspended)
    assert ChatTemplate("suspended: {{ messages[0].content }}", {}).user_turn("a") == "suspended: a"


def test_a_prompt_is_no_book() -> None:
    with pytest.raises(ModelError, match="more than 50,000 characters"):
        ChatTemplate("x" * 50_000 + "{{ messages[0].content }}", {})


@pytest.mark.parametrize("deep", ["{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "{{ " + "not " * 50_000 + "1 }}"])
def test_a_template_nested_without_end_is_refused(deep: str) -> None:
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
    with pytest.raises(ModelError, match="does not show the question as it is"):
        ChatTemplate(source, {})


def test_a_template_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    run = subprocess.run

    def counted(*arguments: Any, **options: Any) -> Any:
        asked.append(arguments)
        return run(*arguments, **options)

    monkeypatch.setattr(chat_template.subprocess, "run", counted)
    source = "{% for m in messages %}[{{ m.role }} {{ m.content | trim }}]{% endfor %}>"
    template = ChatTemplate(source, {})
    assert [template.user_turn(text) for text in (" a ", "b\n")] == ["[user a]>", "[user b]>"]
    assert ChatTemplate(source, {}).user_turn("c") == "[user c]>"
    assert len(asked) == 1
    assert template.user_turn("a", system="Be brief.") == "[system Be brief.][user a]>"
    assert len(asked) == 2


def test_what_a_template_says_of_a_system_message_is_said() -> None:
    refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    source = refusal + "{{ messages[0].content }}"
    template = ChatTemplate(source, {})
    assert template.user_turn("a") == "a"
    with pytest.raises(ModelError, match="does not take a question: no system"):
        template.user_turn("a", system="Be brief.")


def test_the_reply_is_what_the_module_says() -> None:
    request = {"source": "{{ bos }}{{ messages[0].content }}", "special": {"bos": "<b>"}, "today": "2025-01-01"}
    conversations = [[{"role": "user", "content": "a"}]]
    reply = template_child.answer(request | {"conversations": conversations, "longest": 4})
    assert reply == {"prompts": ["<b>a"]}
