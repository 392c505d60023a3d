"""Treebanks with bracketed phrases."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.corpora import Options
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from support.written import corpus

GOOD = """
( (S
    (NP-SBJ (DT The) (JJ old) (NN cat) )
    (VP (VBD saw)
      (NP (-NONE- *T*-1) )
      (PP (IN in) (NP (-LRB- -LRB-) (CD 1\\/2) (NNS doors)) ))
    (. .) ))
"""


def test_a_sentence_with_its_phrases_and_heads() -> None:
    expected = Sentence(
        "The old cat saw in ( 1/2 doors .",
        ((0, 3), (4, 7), (8, 11), (12, 15), (16, 18), (19, 20), (21, 24), (25, 30), (31, 32)),
        ("DET", "ADJ", "NOUN", "VERB", "ADP", "PUNCT", "NUM", "NOUN", "PUNCT"),
        (3, 3, 4, 0, 4, 8, 8, 5, 4),
        ("dep", "dep", "dep", "root", "dep", "punct", "dep", "dep", "punct"),
        document="wsj.mrg",
        phrases=((0, 9), (3, 8), (4, 8), (0, 3), (5, 8)),
        phrase_labels=("S", "VP", "PP", "NP", "NP"),
        top=("NP", "VP", "."),
    )
    found = corpus("wsj.mrg", GOOD)
    assert list(found) == [Example("wsj.mrg:2", (expected,))] and found.skipped == {"empty elements": 1}


HELSINKI = """
( (CODE <P_3>))
( (METADATA (AUTHOR Ann (BORN 1500))) (CP-REL (WNP-1 0) (C 0) (CODE {COM:a note})
    (IP-SUB (NP-SBJ *T*-1) (NP-OB1 *pro*) (NP-1 *) (ADVP-TMP *ICH*-2) (MD may) (VB *)
      (NP (NUM 0) (SYM *) (UH *sigh*) (NPR Ann))))
  (ID TEXT,1.1))
"""


def test_notes_and_empty_elements_of_penn_helsinki_are_no_words() -> None:
    found = corpus("text.psd", HELSINKI)
    ((sentence,),) = (example.first for example in found)
    assert sentence.forms == ("may", "0", "*", "*sigh*", "Ann")
    assert sentence.phrase_labels == ("CP", "NP") and sentence.phrases == ((0, 5), (1, 5))
    assert found.skipped == {"notes": 4, "trees without words": 1, "empty elements": 7}


def test_lemmas_joined_to_all_words_are_left_out() -> None:
    found = corpus("text.psd", "( (IP-MAT (NPR-N Yxna-Ann-Yxna-Ann) (VBDI svaf-sofa) (. .-.)))")
    assert [example.first[0].text for example in found] == ["Yxna-Ann svaf ."] and found.skipped == {"lemmas": 3}


def test_several_trees_in_a_line_and_trees_without_words() -> None:
    found = corpus("wsj.mrg", "(S (NN rain)) (S (VB go) (RB on)) ((S (-NONE- *)))\n")
    assert [example.n_words for example in found] == [1, 2] and found.skipped == {
        "trees without words": 1,
        "empty elements": 1,
    }
    assert [example.sentences[0].phrases for example in found] == [(), ((0, 2),)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("(S (NN rain)\n(NN door)", "line 1: the parse leaves the phrase 'S' open"),
        ("\n) (S (NN rain))", "line 2: the bracket '\\)' closes a phrase that is not open"),
        ("(S (NN rain) door)", "line 1: 'door' is neither a label nor the word of a bracket"),
        ("rain", "line 1: 'rain' is neither a label nor the word"),
        ("(S (NN rain (NN door)))", "line 1: a phrase stands beside the word 'rain'"),
        ("(S" * 300, "line 1: the parse is nested more than 200 levels deep"),
    ],
)
def test_a_bad_tree_is_refused_with_its_line_or_counted(content: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        corpus("wsj.mrg", content)
    if content.count("(") == content.count(")"):
        kept = corpus("wsj.mrg", f"{GOOD}\n{content}", Options(skip_bad=True))
        assert kept.skipped["bad"] == 1


words = st.text("abcxyz.,0", min_size=1, max_size=4)
trees = st.recursive(words, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=8)


def bracketed(tree: str | list) -> str:
    return f"(NN {tree})" if isinstance(tree, str) else f"(NP {' '.join(map(bracketed, tree))})"


def leaves(tree: str | list) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for part in tree for leaf in leaves(part)]


def phrases(tree: str | list, start: int = 0) -> set[tuple[int, int]]:
    if isinstance(tree, str):
        return set()
    found, at = {(start, start + len(leaves(tree)))}, start
    for part in tree:
        found |= phrases(part, at)
        at += len(leaves(part))
    return {(first, last) for first, last in found if last - first > 1}


@settings(deadline=None)
@given(trees)
def test_any_tree_is_read_with_all_its_phrases(tree: str | list) -> None:
    (example,) = corpus("any.mrg", bracketed(tree))
    sentence = example.sentences[0]
    assert sentence.forms == tuple(leaves(tree)) and sentence.heads.count(0) == 1
    assert set(sentence.phrases or ()) == phrases(tree)
