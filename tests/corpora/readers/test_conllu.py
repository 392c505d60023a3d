"""CoNLL-U: words and their characters, trees, pairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from support.written import corpus, texts

FORM = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1)


def line(id: object, form: str, head: object = "_", upos="_", deprel="_", misc="_"):
    return f"{id}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{misc}"


def sentence(*rows, **comments):
    lines = [f"# {key} = {value}" for key, value in comments.items()]
    return "\n".join([*lines, *(line(*row) for row in rows)]) + "\n\n"


SHE_SLEPT = sentence(
    (1, "She", 2, "PRON", "nsubj"),
    (2, "slept", 0, "VERB", "root"),
    (3, ".", 2, "PUNCT", "punct"),
    sent_id="weblog-7",
    text="She  slept .",
)


def only(content):
    (example,) = corpus("x.conllu", content)
    (found,) = example.first
    return found


def test_a_sentence_with_all_its_annotation():
    words = ((0, 3), (5, 10), (11, 12))
    expected = Sentence(
        "She  slept .", words, ("PRON", "VERB", "PUNCT"), (2, 0, 2), ("nsubj", "root", "punct"), None, "x.conllu"
    )
    assert list(corpus("x.conllu", SHE_SLEPT)) == [Example("weblog-7", (expected,))]


def test_words_of_a_range_share_its_characters_and_empty_nodes_are_left_out():
    found = only(
        sentence(
            (1, "Geht", 0, "VERB", "root"),
            ("1.1", "er"),
            ("2-3", "zum", "_", "_", "_", "SpaceAfter=No"),
            (2, "zu", 3, "ADP", "case"),
            (3, "dem", 1, "DET", "obl", "SpaceAfter=No"),
            (4, "?", 1, "PUNCT", "punct"),
            text="Geht zum?",
        )
    )
    assert found.words == ((0, 4), (5, 8), (5, 8), (8, 9))
    assert found.forms == ("Geht", "zum", "zum", "?")
    assert found.heads == (0, 3, 1, 1)
    assert found.upos == ("VERB", "ADP", "DET", "PUNCT")


def test_words_that_join_to_their_range_have_characters_of_their_own():
    found = only(
        sentence(
            (1, "I", 4, "PRON", "nsubj"),
            ("2-3", "don't", "_", "_", "_", "_"),
            (2, "do", 4, "AUX", "aux"),
            (3, "n't", 4, "PART", "advmod"),
            (4, "know", 0, "VERB", "root"),
            text="I don't know",
        )
    )
    assert found.forms == ("I", "do", "n't", "know")
    assert found.words == ((0, 1), (2, 4), (4, 7), (8, 12))


OTHER = {"text that has other words": 1}


@pytest.mark.parametrize(
    ("comments", "skipped"), [({}, {}), ({"text": "He sat."}, OTHER), ({"text": "don't 1 000. x and more"}, OTHER)]
)
def test_a_text_that_is_missing_or_has_other_words_is_made_from_the_forms(comments, skipped):
    rows = [("1-2", "don't"), (1, "do"), (2, "n't"), (3, "1 000", "_", "_", "_", "SpaceAfter=No"), (4, "."), (5, "x")]
    found = corpus("x.conllu", sentence(*rows, **comments))
    assert texts(found) == [["don't 1 000. x"]]
    assert next(iter(found)).first[0].forms == ("do", "n't", "1 000", ".", "x")
    assert found.skipped == skipped


def test_columns_that_no_word_has_are_not_annotated():
    found = only(sentence((1, "She"), (2, "slept")))
    assert (found.upos, found.heads, found.deprel, found.mentions) == ((), (), (), None)


def test_ids_come_from_the_file_where_it_names_none():
    found = corpus("x.conllu", SHE_SLEPT + sentence((1, "Yes")))
    assert [example.id for example in found] == ["weblog-7", "x.conllu:7"]


def test_documents_are_scopes_of_entities():
    content = "".join(
        sentence((1, "Yes"), **comments) for comments in ({}, {"newdoc id": "a"}, {}, {"newdoc id": "b"}, {})
    )
    content += "# newdoc\n" + sentence((1, "Yes"))
    scopes = [example.first[0].document for example in corpus("x.conllu", content)]
    assert scopes == ["x.conllu", "a", "a", "b", "b", "x.conllu:13"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2\tslept", r"line 2: 2 columns, expected the 10 of CoNLL-U, separated by tabs"),
        (line("two", "slept", 1), r"line 2: id 'two' is not a word, a range or an empty node"),
        (line(3, "slept", 1), r"line 2: word 3, expected word 2"),
        (line(2, " ", 1), r"line 2: word '2' has no form"),
        (line("1-2", "slept", 1), r"line 2: range 1-2 does not begin at the next word, 2"),
        (line("2-3", "slept", 1), r"line 2: a range ends at word 3, but the last word is 1"),
        (line(2, "slept", 7), r"line 2: word 2: head '7' is not in 0..2"),
        (line(2, "slept", -1), r"line 2: word 2: head '-1' is not in 0..2"),
        (line(2, "slept", "one"), r"line 2: word 2: head 'one' is not in 0..2"),
        (line(2, "slept"), r"line 2: word 2 has no head, other words of its sentence have"),
        (line(2, "slept", 0), r"line 1: the sentence has 2 roots, expected 1"),
        (line(2, "slept", 2), r"line 2: word 2 is in a cycle of heads"),
        (line(2, "slept", 1, "VERB"), r"line 1: word 1 has no upos, other words of its sentence have"),
        (line(2, "slept", 1, "_", "dep"), r"line 1: word 1 has no deprel, other words of its sentence have"),
    ],
)
def test_bad_sentences(row, message):
    content = f"{line(1, 'She', 0)}\n{row}\n\n{SHE_SLEPT}"
    with pytest.raises(HeadscopeError, match=rf"x.conllu', {message}; correct it, or leave such examples out with"):
        corpus("x.conllu", content)
    found = corpus("x.conllu", content, Options(skip_bad=True))
    assert texts(found) == [["She  slept ."]]
    assert found.skipped == {"bad": 1}


def test_a_longer_cycle_and_no_root_are_bad():
    rows = [(1, "a", 2), (2, "b", 3), (3, "c", 1)]
    with pytest.raises(HeadscopeError, match="line 1: the sentence has 0 roots, expected 1"):
        corpus("x.conllu", sentence(*rows))
    with pytest.raises(HeadscopeError, match="line 1: word 1 is in a cycle of heads"):
        corpus("x.conllu", sentence(*rows, (4, "d", 0)))


def test_two_sentences_of_a_pair_are_one_example():
    content = sentence((1, "Yes"), pair="p1", pair_label="same") + sentence((1, "Yeah"), pair="p1")
    content += sentence((1, "No"), pair="p2") + sentence((1, "Nope"), pair="p2", pair_label="other") + SHE_SLEPT
    found = corpus("x.conllu", content)
    assert texts(found) == [["Yes", "Yeah"], ["No", "Nope"], ["She  slept ."]]
    assert [(example.id, example.label, bool(example.second)) for example in found] == [
        ("p1", "same", True),
        ("p2", "other", True),
        ("weblog-7", None, False),
    ]


@pytest.mark.parametrize("pairs", [("p",), ("p", "p", "p"), ("q", "q", "p"), ("q", "q", "p", "r", "r")])
def test_a_sentence_without_its_partner_is_bad(pairs):
    content = "".join(sentence((1, "Yes"), pair=pair) for pair in pairs)
    with pytest.raises(HeadscopeError, match="pair 'p' has one sentence, expected two that follow each other"):
        corpus("x.conllu", SHE_SLEPT + content)
    assert corpus("x.conllu", SHE_SLEPT + content, Options(skip_bad=True)).skipped == {"bad": 1}


@given(st.lists(st.tuples(FORM, st.integers(0, 2)), min_size=1), st.booleans())
def test_words_and_characters_come_back(forms, with_text):
    text = "".join(form + " " * blanks for form, blanks in forms).rstrip(" ")
    rows = [(n, form, "_", "_", "_", "_" if blanks else "SpaceAfter=No") for n, (form, blanks) in enumerate(forms, 1)]
    found = only(sentence(*rows, **({"text": text} if with_text else {})))
    assert found.forms == tuple(form for form, _ in forms)
    assert found.text == (text if with_text else text.replace("  ", " "))


@st.composite
def trees(draw):
    order = draw(st.permutations(range(1, draw(st.integers(1, 12)) + 1)))
    heads = {order[0]: 0} | {word: draw(st.sampled_from(order[:n])) for n, word in enumerate(order) if n}
    return tuple(heads[word] for word in sorted(heads))


@given(trees())
def test_trees_come_back(tree):
    assert only(sentence(*((n, "word", head) for n, head in enumerate(tree, 1)))).heads == tree


@given(trees(), st.data())
def test_a_tree_with_a_second_root_or_a_head_below_its_word_is_bad(tree, data):
    word = data.draw(st.integers(1, len(tree)).filter(lambda word: tree[word - 1] != 0 or len(tree) == 1))
    below = [n for n in range(1, len(tree) + 1) if word in _upward(tree, n)]
    broken = [*tree]
    broken[word - 1] = data.draw(st.sampled_from(below if len(tree) == 1 else [0, *below]))
    with pytest.raises(HeadscopeError, match=r"root|cycle"):
        only(sentence(*((n, "word", head) for n, head in enumerate(broken, 1))))


def _upward(tree, word):
    return {word} | (_upward(tree, tree[word - 1]) if tree[word - 1] else set())


@pytest.mark.parametrize(
    ("name", "n_sentences", "n_words"),
    [
        ("en_gum-ud-dev", 1575, 28119),
        ("en_ewt-ud-dev", 2001, 25147),
        ("de_gsd-ud-dev", 799, 12480),
        ("ja_gsd-ud-dev", 507, 12287),
        ("tr_imst-ud-dev", 1100, 10542),
    ],
)
def test_real_treebanks(real_data, name, n_sentences, n_words):
    found = read(real_data / "ud" / f"{name}.conllu.gz")
    assert found.n_examples == n_sentences
    assert sum(len(example.first[0].words) for example in found) == n_words
    assert found.skipped == {}


def test_words_of_a_range_with_a_blank_have_characters_of_their_own():
    rows = [(1, "so", 4), ("2-3", "may be"), (2, "may", 4), (3, "be", 4), (4, "good", 0)]
    found = only(sentence(*rows, text="so may  be good").replace("may be", "may  be", 1))
    assert found.forms == ("so", "may", "be", "good")
    assert found.words == ((0, 2), (3, 6), (8, 10), (11, 15))


TAB = "\t"
PLUS = "# global.columns = MISC HEAD DEPREL FORM PARSEME:MWE UPOS ID\n"


@pytest.mark.parametrize("name", ["x.conllu", "x.conllup", "x.cupt"])
def test_columns_of_conllu_plus_are_those_of_its_first_line(name):
    rows = "SpaceAfter=No\t2\tnsubj\tAnn\t*\tPROPN\t1\n_\t0\troot\tslept\t1:VPC\tVERB\t2\n\n"
    second = rows.replace("Ann", "Bo")
    found = [example.first[0] for example in corpus(name, PLUS + rows + second)]
    assert [sentence.text for sentence in found] == ["Annslept", "Boslept"]
    assert {(sentence.heads, sentence.deprel, sentence.upos) for sentence in found} == {
        ((2, 0), ("nsubj", "root"), ("PROPN", "VERB"))
    }


def test_words_without_ids_are_numbered():
    found = corpus("x.conllup", "# global.columns = FORM UPOS\nAnn\tPROPN\nslept\tVERB\n\n")
    assert [example.first[0].forms for example in found] == [("Ann", "slept")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# global.columns = ID LEMMA\n1\tAnn\n", "line 1: global.columns 'ID LEMMA' needs FORM, and each name once"),
        ("# global.columns = ID FORM FORM\n1\ta\ta\n", "needs FORM, and each name once"),
        (PLUS + "1\tAnn\n", "line 2: 2 columns, expected the 7 of global.columns, separated by tabs; correct"),
        (
            f"1\tAnn{9 * TAB}_\n",
            "line 1: 11 columns, expected the 10 of CoNLL-U, .*CoNLL-U Plus are named in its first",
        ),
    ],
)
def test_columns_that_are_not_named_well_are_refused(content, message):
    with pytest.raises(HeadscopeError, match=message):
        corpus("x.conllup", content)
