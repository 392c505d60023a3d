"""Annotation by a spaCy pipeline, built here."""

import shutil
import sys

import pytest

from headscope.corpora import Options
from headscope.errors import HeadscopeError
from headscope.front import from_options
from support.written import corpus


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """A pipeline that splits at periods, hangs each word to the last before the period, and knows nouns."""
    spacy = pytest.importorskip("spacy", reason="spaCy (the extra 'annotate') is not installed")

    @spacy.Language.component("tiny_parser")
    def tiny_parser(doc):
        for sentence in doc.sents:
            root = [token for token in sentence if token.is_alpha][-1]
            for token in sentence:
                token.head = root
                token.dep_ = "ROOT" if token == root else "dep"
                token.pos_ = "PUNCT" if token.is_punct else "NOUN"
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    folder = tmp_path_factory.mktemp("pipelines")
    nlp.to_disk(folder / "sentences")
    nlp.add_pipe("tiny_parser")
    nlp.to_disk(folder / "parser")
    return folder


def test_sentences_are_split_and_annotated(pipeline):
    (example,) = corpus("x.txt", "Dogs  bark. Cats sleep .\n", Options(annotate=str(pipeline / "parser")))
    first, second = example.first
    assert (first.text, second.text) == ("Dogs  bark.", "Cats sleep .")
    assert first.forms == ("Dogs", "bark", ".")
    assert first.words == ((0, 4), (6, 10), (10, 11))
    assert first.upos == ("NOUN", "NOUN", "PUNCT")
    assert first.heads == (2, 0, 2)
    assert first.deprel == ("dep", "root", "dep")
    assert second.forms == ("Cats", "sleep", ".")
    assert second.words == ((0, 4), (5, 10), (11, 12))


def test_only_what_the_pipeline_sets_is_used(pipeline):
    (example,) = corpus("x.txt", "Dogs bark. Cats sleep.\n", Options(annotate=str(pipeline / "sentences")))
    assert [sentence.forms for sentence in example.first] == [("Dogs", "bark", "."), ("Cats", "sleep", ".")]
    assert all(
        (sentence.upos, sentence.heads, sentence.deprel, sentence.mentions) == ((), (), (), None)
        for sentence in example.first
    )


def test_both_segments_of_a_pair_are_annotated(pipeline):
    options = Options(annotate=str(pipeline / "parser"))
    (example,) = corpus("x.tsv", "premise\thypothesis\tlabel\nDogs bark.\tCats sleep.\t1\n", options)
    assert [segment[0].heads for segment in example.segments] == [(2, 0, 2), (2, 0, 2)]
    assert example.label == "1"


def test_annotated_sentences_are_left_as_they_are(pipeline):
    content = "1\tDogs\t_\tX\t_\t_\t0\troot\t_\t_\n2\tbark\t_\tX\t_\t_\t1\tdep\t_\t_\n"
    plain = corpus("x.conllu", content)
    assert list(corpus("x.conllu", content, Options(annotate=str(pipeline / "parser")))) == list(plain)


def test_the_examples_of_a_task_are_annotated(pipeline, tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\nDogs bark.\t1\nCats sleep.\t0\n", encoding="utf-8")
    given = {"task": "mine", "data": tmp_path, "corpora": (), "split": None, "regression": None, "limit": None}
    given |= {"columns": None, "document": None, "skip_bad": False, "kind": None}
    annotated, missing = ({**given, "annotate": name} for name in (str(pipeline / "parser"), "en_no"))
    for read in (lambda given: from_options.task(given, {}).dev, lambda given: from_options.corpora(given, {})[0]):
        assert [example.first[0].heads for example in read(annotated)] == [(2, 0, 2), (2, 0, 2)]
        with pytest.raises(HeadscopeError, match="pipeline 'en_no' is not installed"):
            read(missing)
    beside = from_options.task({**missing, "other": "texts.txt"}, {})  # then it is that corpus that is annotated
    assert [example.first[0].heads for example in beside.dev] == [(), ()]
    with pytest.raises(HeadscopeError, match="items are scored as they are; leave out --annotate"):
        from_options.task({**annotated, "task": "shortcuts", "data": None}, {})


def test_a_pipeline_that_is_not_installed_is_an_error():
    pytest.importorskip("spacy", reason="spaCy (the extra 'annotate') is not installed")
    with pytest.raises(
        HeadscopeError, match=r"annotate: spaCy pipeline 'en_no' is not installed; python -m spacy downl"
    ):
        corpus("x.txt", "Dogs bark.\n", Options(annotate="en_no"))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.cfg", ""),
        ("config.cfg", "no section"),
        ("config.cfg", "[nlp]\n"),
        ("config.cfg", '[nlp]\nlang = "en"\npipeline = ["tagger"]\n'),
        ("config.cfg", None),
        ("meta.json", "{"),
        ("meta.json", None),
        ("tokenizer", "x"),
        ("vocab/strings.json", "{"),
    ],
)
def test_a_damaged_pipeline_is_one_line(pipeline, tmp_path, file, content):
    folder = shutil.copytree(pipeline / "sentences", tmp_path / "damaged")
    (folder / file).unlink() if content is None else (folder / file).write_text(content)
    with pytest.raises(HeadscopeError, match=r"^annotate: spaCy pipeline '.*damaged' cannot be used \(.*save it again"):
        corpus("x.txt", "Dogs bark.\n", Options(annotate=str(folder)))


def test_a_pipeline_that_fails_on_a_text_is_one_line(pipeline, tmp_path):
    spacy = pytest.importorskip("spacy", reason="spaCy (the extra 'annotate') is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")  # never trained
    nlp.to_disk(tmp_path / "untrained")
    with pytest.raises(HeadscopeError, match=r"'.*untrained' cannot be used \(\[E109\]"):
        corpus("x.txt", "Dogs bark.\n", Options(annotate=str(tmp_path / "untrained")))


def test_without_spacy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(HeadscopeError, match=r"annotation needs spacy: .* install 'headscope\[annotate\]'"):
        corpus("x.txt", "Dogs bark.\n", Options(annotate="en_core_web_sm"))


OTHER = "relations that Universal Dependencies do not have"
CLEAR = (["nsubj", "ROOT", "dobj", "punct"], ["nsubjpass", "auxpass", "ROOT", "punct"])
TIGER = (["sb", "ROOT", "oa", "punct"], ["sb", "ROOT", "oc", "punct"])
UNIVERSAL = (["nsubj", "ROOT", "obj", "punct"], ["nsubj:pass", "aux:pass", "ROOT", "punct"])


@pytest.fixture
def labelled(tmp_path):
    """Makes a pipeline that labels the words of two sentences; the labels are listed or not."""
    spacy = pytest.importorskip("spacy", reason="spaCy (the extra 'annotate') is not installed")

    class Labeller:
        def __init__(self, nlp, name, rows: list, listed: bool):
            self.rows, self.labels = rows, tuple({label for row in rows for label in row}) if listed else ()

        def __call__(self, doc):
            for row, sentence in zip(self.rows, doc.sents, strict=False):
                root = sentence[row.index("ROOT")]
                for token, label in zip(sentence, row, strict=True):
                    token.head, token.dep_, token.pos_ = root, label, "NOUN"
            return doc

        def to_disk(self, path, exclude=()):
            pass

        def from_disk(self, path, exclude=()):
            return self

    spacy.Language.factory("labeller", assigns=["token.dep"], func=Labeller)

    def folder(rows, listed):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("labeller", config={"rows": list(rows), "listed": listed})
        nlp.to_disk(tmp_path / "labelled")
        return str(tmp_path / "labelled")

    return folder


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "seen"])
@pytest.mark.parametrize(
    ("rows", "relations", "skipped"),
    [
        (CLEAR, UNIVERSAL, {"relations of CLEAR, read as universal ones": 3}),
        (TIGER, (UNIVERSAL[0], ["nsubj", "ROOT", "ccomp", "punct"]), {"relations of TIGER, read as universal ones": 4}),
        (UNIVERSAL, UNIVERSAL, {}),
        ((["nsubj", "ROOT", "zz", "punct"],), (["nsubj", "ROOT", "zz", "punct"],), {OTHER: 1}),
    ],
    ids=["CLEAR", "TIGER", "universal", "unknown"],
)
def test_relations_of_other_schemes_are_read_as_universal_ones(labelled, rows, relations, skipped, listed):
    text = "Dogs chase cats.\nLetters were written.\n" if len(rows) > 1 else "Dogs chase cats.\n"
    found = corpus("x.txt", text.replace("\n", " "), Options(annotate=labelled(rows, listed)))
    expected = [tuple("root" if name == "ROOT" else name for name in row) for row in relations]
    assert [sentence.deprel for example in found for sentence in example.first] == expected
    assert found.skipped == skipped


def test_the_scheme_is_told_by_all_labels_of_the_pipeline(labelled):
    rows = [["cc", "ROOT", "cc", "punct"], ["sb", "ROOT", "oa", "punct"]]
    (example,) = corpus("x.txt", "Dogs like cats.", Options(annotate=labelled(rows, listed=True)))
    assert example.first[0].deprel == ("obl", "root", "obl", "punct")
