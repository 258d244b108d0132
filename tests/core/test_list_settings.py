from sapo_desktop.core.settings import between_commas, listed, with_item, without_item


def test_words_stand_between_commas_or_blanks() -> None:
    assert listed("") == []
    assert listed(" wss://a:1,wss://b:2  wss://c:3 ,") == ["wss://a:1", "wss://b:2", "wss://c:3"]


def test_an_item_comes_to_the_end_once() -> None:
    assert with_item("", "a") == "a"
    assert with_item("b, c", "a") == "b, c, a"
    assert with_item("b a", "a") == "b, a"


def test_an_item_goes_and_the_others_stay_in_order() -> None:
    assert without_item("b, a, c", "a") == "b, c"
    assert without_item("a", "a") == ""
    assert without_item("b", "a") == "b"


def test_a_programs_name_may_hold_blanks() -> None:
    assert between_commas("") == between_commas(" , ") == []
    assert between_commas(" Adobe Premiere Pro.exe,blender ,") == ["Adobe Premiere Pro.exe", "blender"]
