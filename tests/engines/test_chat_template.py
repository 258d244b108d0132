"""Chat templates rendered without transformers, against transformers' own rendering."""

from __future__ import annotations

from datetime import date

import pytest

from sapo_desktop.core.errors import ModelError
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
  {% generation %}{{ m | tojson }}{% endgeneration %}
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
