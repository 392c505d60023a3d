"""The ends of errors about unknown names."""

from headscope.errors import nearest, suggest


def test_the_nearest_name_then_all_of_them():
    assert suggest("Entrpy", ["entropy", "surface"]) == "did you mean 'entropy'? there are: entropy, surface"
    assert suggest("xyz", ["entropy", "surface", "entropy"]) == "there are: entropy, surface"
    assert suggest("xyz", []) == "there are none"


def test_a_remedy_takes_the_place_of_many_names():
    assert suggest("a.tx", ["a.txt", "b.txt"], remedy="name a file") == "did you mean 'a.txt'? name a file"
    assert suggest("7", map(str, range(100, 125))).endswith("118, 119 and 5 more")


def test_case_and_hyphens_do_not_count():
    assert nearest("QnLI", ["QNLI", "WNLI"]) == "QNLI"
    assert nearest("coreference", ["syntax"]) is None
