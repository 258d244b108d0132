"""Chat templates of the usual families, rebuilt from their behaviour, and a service that renders one."""

import msgspec

from sapo_desktop.core.link import service
from sapo_desktop.core.link.requests import Request
from sapo_desktop.engines.chat_template import ChatTemplate

TEMPLATES = {
    "blanks around blocks": """
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
        "{% for m in messages %}{{ m['content'] | trim }}\n{% endfor %}"
    ),
    "tools, a loop that ends, a namespace": """
{% set ns = namespace(seen=0) %}
{% if tools %}{{ tools | tojson }}{% endif %}
{% for m in messages %}
  {% if ns.seen > 5 %}{% break %}{% endif %}
  {% set ns.seen = ns.seen + 1 %}
  {% generation %}{{ m.role | tojson }}{{ m.content }}{% endgeneration %}
  {%- generation -%} {{ m.role }} {%- endgeneration -%}
{% endfor %}
""",
    # Qwen2.5 and Qwen3: tools first, the messages from behind, thoughts taken out of what an assistant said.
    "thoughts": """
{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n' }}{%- for tool in tools %}{{- tool | tojson }}{%- endfor %}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(several=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.several and message.role == "user" and message.content is string and not(message.content.startswith(\
'<tool>') and message.content.endswith('</tool>')) %}
        {%- set ns.several = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning is string %}
            {%- set thought = message.reasoning %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' }}
            {{- thought.strip('\\n') + '\\n</think>\\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}{%- for call in message.tool_calls %}{{- call | tojson }}{%- endfor %}{%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
""",
    # Llama 3.1 to 3.3: what may be defined, none, what is left of the messages.
    "defined or not": """
{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools_first is defined %}{%- set tools_first = true %}{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- if tools_first and not tools is none %}
    {%- if messages | length != 0 %}{%- set first = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}
    {%- else %}{{- raise_exception("No first user message") }}{%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + \
'<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls | length == 1 %}{{- raise_exception("One call at once") }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
""",
    # Gemma 2 and 3: turns that alternate, another name for the assistant.
    "alternating, without a system": (
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{% for message in messages %}"
        "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}"
        "{% endif %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"
    ),
    "the system in the first turn": """
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- set role = "model" if message['role'] == 'assistant' else message['role'] -%}
    {{ '<start_of_turn>' + role + '\\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}{{ item['text'] | trim }}{%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}
""",
    # Mistral: exchanges between brackets, the system before the last question.
    "the system in the last turn": """
{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("Roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}{{- tools | tojson }}{%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST]" + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST]" + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- message["content"] + eos_token}}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported") }}
    {%- endif %}
{%- endfor %}
""",
    # Phi: one line, a role after the other.
    "a case for each role": (
        "{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] "
        "is not none %}{{ '<|' + message['role'] + '|>' + message['tools'] + '<|end|>' }}{% elif message['role'] == "
        "'user' %}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% else %}{{ '<|' + message['role'] + '|>\n' + "
        "message['content'] + '<|end|>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' "
        "}}{% else %}{{ eos_token }}{% endif %}"
    ),
    # LFM2: macros, texts that are put together, keywords, tools that are iterable and long enough.
    "macros": """
{{- bos_token -}}
{%- set keep_past_thinking = keep_past_thinking | default(false) -%}
{%- macro shown(content, trimmed=false) -%}
    {%- if content is string -%}{{- content.strip() if trimmed else content -}}
    {%- elif content is mapping -%}{{- content | tojson(indent=2) -}}
    {%- else -%}{%- for item in content -%}{{- item -}}{%- endfor -%}{%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(system_prompt="", last_assistant=-1) -%}
{%- if messages[0]["role"] == "system" -%}
    {%- set ns.system_prompt = messages[0]["content"] -%}
    {%- set messages = messages[1:] -%}
{%- endif -%}
{%- if tools is iterable and tools | length > 0 -%}
    {%- set ns.system_prompt = ns.system_prompt + ("\\n" if ns.system_prompt else "") + "List of tools: " ~ tools -%}
{%- endif -%}
{%- if ns.system_prompt -%}
    {{- "<|im_start|>system\\n" ~ ns.system_prompt ~ "<|im_end|>\\n" -}}
{%- endif -%}
{%- for message in messages -%}
    {%- if message["role"] == "assistant" -%}{%- set ns.last_assistant = loop.index0 -%}{%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
    {{- "<|im_start|>" + message["role"] + "\\n" -}}
    {%- set content -%}{{ shown(message["content"], trimmed=message.role == "assistant") }}{%- endset -%}
    {%- if message["role"] == "assistant" and not keep_past_thinking and loop.index0 != ns.last_assistant -%}
        {%- if "</think>" in content -%}{%- set content = content.split("</think>")[-1] | trim -%}{%- endif -%}
    {%- endif -%}
    {{- content + "<|im_end|>\\n" -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- "<|im_start|>assistant\\n" -}}{%- endif -%}
""",
}
NO_SYSTEM = ("alternating, without a system",)


class Rendered(msgspec.Struct, frozen=True, tag=True):
    text: str


class Template(Request[Rendered], frozen=True):
    source: str


REQUEST, PROGRESS = Template, Rendered


class Service(service.Service[Template]):
    """Renders what is asked of it, in a host."""

    def handle(self, request: Template, progress: service.Progress) -> Rendered:
        return Rendered(ChatTemplate(request.source, {}).user_turn("2 + 2?"))
