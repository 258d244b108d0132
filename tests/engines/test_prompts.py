"""Prompts: instructions in the system's or the user's turn, and the same ids from every engine."""

from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.extraction import OPEN, extract_answer
from sapo_desktop.core.records import Exchange, Prompt
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.chat_template import ChatTemplate, Piece
from sapo_desktop.engines.prompts import INSTRUCTIONS, TAG, Prompter
from sapo_desktop.engines.tokenizer import ModelTokenizer, load_tokenizer
from sapo_desktop.tasks.grammars import parse_answer
from tests.builders import as_prompt
from tests.engines.real_models import KINDS, TEMPLATES, save_real_model

QUESTION = "What is 2 + 4?"
ENDS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
SILENT = "{% for m in messages if m.role == 'user' %}[user]{{ m.content }}{% endfor %}[assistant]"
STRICT = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + ENDS
SHORTENING = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content[:20] if m.role == 'system' else m.content }}{% endfor %}"
)


def prompter(template: str, special: tuple[str, ...] = ()) -> Prompter:
    return Prompter(ChatTemplate(template, {}), special, has_tag=False)


def test_a_chat_model_learns_how_to_answer_in_the_systems_turn() -> None:
    one = prompter(ENDS)
    assert one.pieces(as_prompt(QUESTION)) == [Piece(f"[system]{INSTRUCTIONS}[user]{QUESTION}[assistant]", True)]
    assert one.messages(as_prompt(QUESTION)) == [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": QUESTION},
    ]


@pytest.mark.parametrize("template", [SILENT, STRICT, SHORTENING], ids=["dropped", "refused", "shortened"])
def test_where_a_template_has_no_system_role_the_users_turn_says_it(template: str) -> None:
    one = prompter(template)
    ((text, _),) = one.pieces(as_prompt(QUESTION))
    assert text.startswith(f"[user]{INSTRUCTIONS}\n\n{QUESTION}") and "[system]" not in text
    assert one.messages(as_prompt(QUESTION)) == [{"role": "user", "content": f"{INSTRUCTIONS}\n\n{QUESTION}"}]


def test_a_model_without_a_template_goes_on_after_the_bare_question() -> None:
    bare = Prompter(None, ["<eos>"], has_tag=False)
    assert bare.pieces(as_prompt(QUESTION)) == [Piece(QUESTION, True)]
    assert bare.pieces(as_prompt("Is <eos> a word?")) == [Piece("Is <eos> a word?", False)]
    assert bare.messages(as_prompt(QUESTION)) == [{"role": "user", "content": QUESTION}]


def test_the_starter_and_what_is_made_of_it_get_the_bare_question_in_their_template() -> None:
    starter = load_tokenizer(resource("starter"))
    ids = starter.prompt_tokens(as_prompt(QUESTION))
    assert starter.backend.decode(ids, clean_up_tokenization_spaces=False) == f"<q>{QUESTION}<a>"
    assert starter.prompter.messages(as_prompt(QUESTION)) == [{"role": "user", "content": QUESTION}]
    assert TAG == OPEN


def test_what_a_question_spells_is_text_and_not_a_special_token() -> None:
    before, asked, after = prompter(ENDS, ("[end]",)).pieces(as_prompt("Is [end] a word?"))
    assert (asked, after) == (Piece("Is [end] a word?", False), Piece("[assistant]", True))
    assert before == Piece(f"[system]{INSTRUCTIONS}[user]", True)


def test_a_template_that_takes_no_question_at_all_is_refused() -> None:
    with pytest.raises(ModelError, match="does not accept a question"):
        prompter("{{ raise_exception('never') }}").pieces(as_prompt(QUESTION))
    with pytest.raises(ModelError, match="changes the question"):
        prompter("{% for m in messages %}{{ m.content[:5] }}{% endfor %}", ("[end]",)).pieces(
            as_prompt("Is [end] a word?")
        )


@pytest.fixture(scope="module", params=[*sorted(KINDS), "no system role"])
def words(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModelTokenizer:
    kind = str(request.param)
    folder = save_real_model(tmp_path_factory.mktemp("words") / "m", kind if kind in KINDS else "qwen2.5")
    if kind not in KINDS:
        (folder / "chat_template.jinja").write_text(TEMPLATES[kind])
    return load_tokenizer(folder)


def test_every_kind_reads_it_once_before_the_question(words: ModelTokenizer) -> None:
    text = words.backend.decode(words.prompt_tokens(as_prompt(QUESTION)))
    assert text.count(INSTRUCTIONS) == 1 and text.count(QUESTION) == 1
    assert text.index(INSTRUCTIONS) < text.index(QUESTION)


def test_torch_reads_a_special_token_that_a_question_spells_as_text(words: ModelTokenizer) -> None:
    special = words.special_texts()[-1]
    number = words.backend.convert_tokens_to_ids(special)
    plain, spelt = (
        words.prompt_tokens(as_prompt("Is it a word?")),
        words.prompt_tokens(as_prompt(f"Is {special} a word?")),
    )
    assert spelt.count(number) == plain.count(number)
    assert words.backend.decode(spelt).count(special) == plain.count(number) + 1


@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_llama_cpp_asks_with_the_same_ids(words: ModelTokenizer, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    from sapo_desktop.engines.gguf.folder import write_folder
    from sapo_desktop.engines.llama_cpp.model import GgufModel
    from sapo_desktop.engines.llama_cpp.vocabulary import Vocabulary

    folder = Path(words.backend.name_or_path)
    write_folder(folder, tmp_path / "m.gguf", "F32")
    model = GgufModel(tmp_path / "m.gguf", gpu=False)
    try:
        theirs = Vocabulary(model).prompt_tokens
        for text in (QUESTION, f"Is {words.special_texts()[-1]} a word?"):
            assert theirs(as_prompt(text)) == words.prompt_tokens(as_prompt(text))
    finally:
        model.close()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("2 + 4 is 6.\n<answer>6</answer>", "6"),
        ("Let me think.\n\n2 + 4 = 6\n\n<answer>\n6\n</answer>\n", "6"),
        ("I first thought <answer>5</answer>, but it is <answer>6</answer>", "6"),
        ("so the answer is **<answer>6</answer>**", "6"),
        ("The answer is 6.", None),
        ("**Answer: 6**", None),
        (r"so it is \boxed{6}", None),
        ("<answer>The answer is 6.</answer>", None),
        ("2 + 4\n6", "6"),
    ],
)
def test_what_chat_models_say_and_what_is_read_of_it(said: str, read: str | None) -> None:
    """The rule takes what the instructions ask for; the sentence that bare questions are answered with it does not."""
    found = extract_answer(said)
    assert found is not None and parse_answer("integer", found) == read


TURNS = (Exchange(question="One?", answer=" 1 "), Exchange(question="Two?", answer="2"))


def test_a_chats_turns_stand_between_the_examples_and_the_question() -> None:
    shown = Exchange(question="What is 1 + 1?", answer="<answer>2</answer>")
    asked = Prompt(question=QUESTION, shown=(shown,), turns=TURNS)
    assert prompter(ENDS).text(asked) == (
        f"[system]{INSTRUCTIONS}[user]What is 1 + 1?[assistant]<answer>2</answer>"
        f"[user]One?[assistant]1[user]Two?[assistant]2[user]{QUESTION}[assistant]"
    )
    tagged = Prompter(ChatTemplate(ENDS, {}), (), has_tag=True)
    assert tagged.text(asked) == f"[user]One?[assistant]1[user]Two?[assistant]2[user]{QUESTION}[assistant]"
    assert Prompter(None, (), has_tag=False).text(asked).endswith(f"\n\nOne?\n 1 \n\nTwo?\n2\n\n{QUESTION}\n")


def test_a_system_message_of_somebodys_own_takes_the_place_of_ours() -> None:
    one = prompter(ENDS, ("[end]",))
    assert one.text(Prompt(question=QUESTION, system="Be short.")) == f"[system]Be short.[user]{QUESTION}[assistant]"
    assert one.text(Prompt(question=QUESTION, system="")) == f"[user]{QUESTION}[assistant]"
    for odd in (prompter(STRICT), Prompter(None, (), has_tag=False)):
        assert "Be short.\n\nOne?" in odd.text(Prompt(question=QUESTION, turns=TURNS, system="Be short."))
    starter = load_tokenizer(resource("starter")).prompter
    assert starter.text(Prompt(question="9?", turns=TURNS[1:], system="Be.")) == "<q>Be.\n\nTwo?<a>2<eos><q>9?<a>"


def test_a_special_token_in_a_system_message_is_text_as_in_a_question() -> None:
    pieces = prompter(ENDS, ("[end]",)).pieces(Prompt(question=QUESTION, system="Say [end]."))
    assert [piece for piece in pieces if "[end]" in piece.text] == [Piece(f"Say [end].\n\n{QUESTION}", False)]
