"""Tasks: GLUE's and those of tables, their labels, and what is refused."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from headscope import HeadscopeError
from headscope.corpora import Options
from headscope.corpora import read as read_corpus
from headscope.corpora.tasks import Task, aligned, masked, read
from headscope.corpora.tasks.task import unlearnable
from support.written import parquet

PAIRS = "index\tsentence1\tsentence2\tlabel\n"
RTE = PAIRS + "0\tIt rains.\tIt is wet.\tentailment\n1\tIt rains.\tIt is dry.\tnot_entailment\n"


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
    return folder


def table(*labels):
    return "sentence\tlabel\n" + "".join(f"Text {number}.\t{label}\n" for number, label in enumerate(labels))


@pytest.mark.parametrize("folder", ["RTE", "."])
def test_glue_task_of_its_own_folder_or_of_all(tmp_path, folder):
    write(tmp_path / "RTE", train=RTE, dev=RTE)
    task = read("rte", tmp_path / folder)
    assert (task.name, task.kind, task.labels, task.metrics) == (
        "RTE",
        "classification",
        ("entailment", "not_entailment"),
        ("accuracy",),
    )
    assert task.targets(task.dev).tolist() == [0, 1]
    assert task.training().n_examples == 2


def test_packed_scores(tmp_path):
    rows = "".join(f"{number}\tA.\tB.\t{score}\n" for number, score in enumerate((0.0, 2.5, 5.0)))
    (tmp_path / "STS-B").mkdir()
    for split in ("train", "dev"):
        packed = gzip.compress(("index\tsentence1\tsentence2\tscore\n" + rows).encode())
        (tmp_path / "STS-B" / f"{split}.tsv.gz").write_bytes(packed)
    task = read("sts-b", tmp_path)
    assert task.kind == "regression"
    assert task.targets(task.dev).tolist() == [0.0, 2.5, 5.0]


def test_tables_with_classes_are_sorted(tmp_path):
    task = read("mine", write(tmp_path, train=table("good", "bad", "bad"), dev=table("good", "bad")))
    assert (task.labels, task.metrics) == (("bad", "good"), ("accuracy", "f1"))
    assert task.targets(task.dev).tolist() == [1, 0]


def test_tables_with_many_classes(tmp_path):
    assert read("mine", write(tmp_path, dev=table("a", "b", "c"))).metrics == ("accuracy", "macro_f1")


@pytest.mark.parametrize(
    ("labels", "regression", "kind"),
    [
        (("1", "0"), None, "classification"),
        (("1", "0"), True, "regression"),
        (("0.5", "1"), None, "regression"),
        (("0.5", "1"), False, "classification"),
        (tuple(map(str, range(30))), None, "regression"),
    ],
)
def test_numbers_are_classes_or_scores(tmp_path, labels, regression, kind):
    assert read("mine", write(tmp_path, dev=table(*labels)), regression=regression).kind == kind


def test_words_behind_a_mask_need_no_label():
    task = masked(read_corpus("sample", Options(limit=3)))
    assert task.targets(task.dev).tolist() == [0, 0, 0]


def test_limit_applies_to_each_split(tmp_path):
    task = read("mine", write(tmp_path, train=table("a", "b", "a"), dev=table("a", "b", "b")), Options(limit=2))
    assert (task.training().n_examples, task.dev.n_examples) == (2, 2)


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("mine", {"dev": table("a", "a")}, "all 2 examples of '.*' have the label 'a'.*--columns"),
        ("mine", {"dev": table("a", "b"), "train": table("a", "a")}, "train.*have the label 'a'"),
        ("mine", {"train": table("a", "b")}, "no dev split.*dev.tsv"),
        ("mine", {"dev": table("", "")}, "no example of .* has a label"),
        ("mine", {"dev": "sentence\nIt rains.\nIt pours.\n"}, "no example of .* has a label.*--columns"),
    ],
)
def test_bad_tables_are_refused(tmp_path, name, files, message):
    with pytest.raises(HeadscopeError, match=message):
        read(name, write(tmp_path, **files))


def test_glue_folder_without_dev_is_refused(tmp_path):
    write(tmp_path / "RTE", train=RTE)
    with pytest.raises(HeadscopeError, match="no split 'dev'"):
        read("rte", tmp_path)


def test_glue_label_that_is_none_is_named_with_its_line(tmp_path):
    write(tmp_path / "RTE", dev=RTE.replace("not_entailment", "perhaps"))
    with pytest.raises(HeadscopeError, match=r"'dev.tsv:3': label 'perhaps', expected 'entailment' or"):
        read("rte", tmp_path)


def test_no_train_split(tmp_path):
    with pytest.raises(HeadscopeError, match="no train split"):
        read("mine", write(tmp_path, dev=table("a", "b"))).training()


def test_folder_that_does_not_exist(tmp_path):
    with pytest.raises(HeadscopeError, match="does not exist"):
        read("mine", tmp_path / "none")


def test_labels_in_the_order_of_the_model(tmp_path):
    task = read("mine", write(tmp_path, dev=table("Not-Entailed", "entailed")))
    assert aligned(task, {0: "entailed", 1: "not_entailed"}, "m").labels == ("entailed", "Not-Entailed")
    assert aligned(task, {0: "LABEL_0", 1: "LABEL_1"}, "m") is task
    with pytest.raises(HeadscopeError, match="model 'm' has 3 outputs"):
        aligned(task, {0: "a", 1: "b", 2: "c"}, "m")
    with pytest.raises(HeadscopeError, match=r"model .m. has the labels good, bad.*id2label"):
        aligned(task, {0: "good", 1: "bad"}, "m")


@pytest.mark.parametrize("label", ["nan", "inf", "-inf"])
def test_a_target_that_is_not_finite_is_refused_with_its_example(tmp_path, label):
    folder = write(tmp_path, dev=table("0.5", "1.5", label), train=table("0.5", "1.5"))
    with pytest.raises(HeadscopeError, match=rf"example '.*': label '{label}', expected a finite number"):
        read("mine", folder, regression=True)


def test_a_text_as_a_score_is_refused(tmp_path):
    with pytest.raises(HeadscopeError, match="label 'b', expected a finite number"):
        read("mine", write(tmp_path, dev=table("0.5", "b")), regression=True)


def test_dev_labels_that_training_lacks_are_counted(tmp_path):
    task = read("mine", write(tmp_path, dev=table("a", "b", "c", "c"), train=table("a", "b")))
    assert unlearnable(task) == {"c": 2}
    assert not unlearnable(read("mine", write(tmp_path, dev=table("a", "b"), train=table("b", "a", "c"))))


def test_of_one_table_a_half_trains_and_the_other_is_scored(tmp_path):
    (tmp_path / "reviews.tsv").write_text(table(*"ababababa"), encoding="utf-8")
    task = read("reviews", tmp_path / "reviews.tsv")
    texts = [[example.first[0].text for example in corpus] for corpus in (task.training(), task.dev)]
    assert [len(part) for part in texts] == [5, 4]
    assert sorted(text for part in texts for text in part) == [f"Text {number}." for number in range(9)]
    assert task.training().name.endswith("reviews.tsv (train half)") and task.dev.name.endswith("(dev half)")
    again = read("reviews", tmp_path / "reviews.tsv")
    assert [example.id for example in again.dev] == [example.id for example in task.dev]
    with pytest.raises(HeadscopeError, match=r"^table '.*no\.csv' does not exist; name the folder .* or one table$"):
        read("reviews", tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("labels", "classes", "skipped"),
    [
        (("1", "0", "", "-1", "-1"), ("0", "1"), {"without a label": 1, "without a label (-1)": 2}),
        (("a", "b", "-"), ("a", "b"), {"without a label (-)": 1}),
        (("1", "-1"), ("-1", "1"), {}),
        (("-1", "0", "1", "-2"), ("-2", "-1", "0", "1"), {}),
        (("+", "-", "-"), ("+", "-"), {}),
        (("1.0", "1", "0", "0.0"), ("0", "1"), {}),
        (("10", "9", "2"), ("2", "9", "10"), {}),
    ],
)
def test_labels_that_are_no_class_are_left_out_and_equal_numbers_are_one(tmp_path, labels, classes, skipped):
    task = read("mine", write(tmp_path, dev=table(*labels)))
    assert (task.labels, task.dev.skipped) == (classes, skipped)
    assert task.dev.n_examples == len(list(task.dev)) == len(labels) - sum(skipped.values())
    assert len(task.targets(task.dev)) == task.dev.n_examples


def test_scores_may_be_minus_one_and_have_none(tmp_path):
    task = read("mine", write(tmp_path, dev=table("-1", "0.5", "")))
    assert task.targets(task.dev).tolist() == [-1, 0.5] and task.dev.skipped == {"without a label": 1}


def test_pairs_without_a_gold_label_are_left_out_of_snli(tmp_path):
    rows = [f"A.\tB.\t{label}\n" for label in ("neutral", "-", "entailment", "contradiction")]
    write(tmp_path / "SNLI", dev="sentence1\tsentence2\tgold_label\n" + "".join(rows))
    task = read("snli", tmp_path)
    assert task.targets(task.dev).tolist() == [2, 1, 0] and task.dev.skipped == {"without a label (-)": 1}


def test_numbers_with_a_fraction_in_parquet_are_the_classes_of_their_names(tmp_path):
    for name, labels in (("train", [0.0, 1.0, float("nan")]), ("dev", [1, 0, 1])):
        (tmp_path / f"{name}.parquet").write_bytes(parquet(text=["A.", "B.", "C."], label=labels))
    task = read("mine", tmp_path)
    assert task.labels == ("0", "1") and task.targets(task.training()).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "labels", "outputs", "expected"),
    [
        ("mrpc", ("0", "1"), ("equivalent", "not_equivalent"), ("1", "0")),
        ("sst-2", ("0", "1"), ("POSITIVE", "NEGATIVE"), ("1", "0")),
        ("sst2", ("0", "1"), ("neg", "pos"), ("0", "1")),
        ("cola", ("0", "1"), ("unacceptable", "acceptable"), ("0", "1")),
        ("qqp", ("0", "1"), ("not_duplicate", "duplicate"), ("0", "1")),
        ("wnli", ("0", "1"), ("not_entailment", "entailment"), ("0", "1")),
        ("rte", ("0", "1"), ("not_entailment", "entailment"), ("1", "0")),
        ("mnli", ("a", "b"), ("B", "A"), ("b", "a")),
        ("mnli", ("contradiction", "entailment", "neutral"), ("ENTAILMENT", "NEUTRAL", "contradict"), None),
        ("mine", ("negative", "positive"), ("POS", "NEG"), ("positive", "negative")),
        ("mine", ("1", "2", "3"), ("3 stars", "1 star", "2 stars"), ("3", "1", "2")),
        ("mine", ("0", "1"), ("dogs", "cats"), ("0", "1")),
    ],
)
def test_names_that_data_sets_and_the_hub_have_are_known(name, labels, outputs, expected):
    corpus = read_corpus("sample", Options(limit=1))
    task = Task(name=name, kind="classification", labels=labels, metrics=("accuracy",), dev=corpus)
    order = expected or ("entailment", "neutral", "contradiction")
    assert aligned(task, dict(enumerate(outputs)), "m").labels == order


def test_names_of_another_task_of_glue_are_refused():
    corpus = read_corpus("sample", Options(limit=1))
    task = Task(name="MRPC", kind="classification", labels=("0", "1"), metrics=("accuracy",), dev=corpus)
    with pytest.raises(HeadscopeError, match="has the labels NEGATIVE, POSITIVE, task 'MRPC' has 0, 1"):
        aligned(task, {0: "NEGATIVE", 1: "POSITIVE"}, "m")


@pytest.mark.parametrize("inner", ["", "data"])
@pytest.mark.parametrize("name", ["mine", "rte"])
def test_parts_of_splits_are_found_as_the_hub_names_them(tmp_path, inner, name):
    folder = tmp_path / inner
    folder.mkdir(exist_ok=True)
    for split, parts in (("train", 2), ("validation", 1), ("test", 1)):
        for part in range(parts):
            rows = {"sentence1": [f"A {part}.", "B."], "sentence2": ["C.", "D."], "label": [0, 1]}
            (folder / f"{split}-{part:05}-of-{parts:05}.parquet").write_bytes(parquet(**rows))
    task = read(name, tmp_path)
    assert task.labels == (("entailment", "not_entailment") if name == "rte" else ("0", "1"))
    assert task.targets(task.dev).tolist() == [0, 1] and task.targets(task.training()).tolist() == [0, 1, 0, 1]
    (folder / "train-00001-of-00002.parquet").unlink()
    with pytest.raises(HeadscopeError, match=r"train-00001-of-00002\.parquet' does not exist"):
        read(name, tmp_path)


def test_so_many_examples_of_a_sorted_split_are_drawn_from_all_of_it_and_the_name_says_so(tmp_path: Path) -> None:
    """The first 40 of 120 rows that are sorted by genre and label would all be of one genre, and of one label."""
    rows = [
        (f"{genre} {number} it rained", label) for label in "ab" for genre in ("news", "web") for number in range(30)
    ]
    folder = tmp_path / "sorted"
    folder.mkdir()
    for split in ("train", "dev"):
        (folder / f"{split}.tsv").write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    dev, again = (read("sorted", folder, Options(limit=40)).dev for _ in range(2))
    genres = Counter((example.first[0].text.split()[0], str(example.label)) for example in dev)
    assert dev.n_examples == 40 and min(genres.values()) >= 5 and len(genres) == 4
    assert Counter(str(example.label) for example in dev) == {"a": 20, "b": 20}
    assert dev.drawn == "40 of 120, drawn evenly over labels, seed 0"
    assert [example.id for example in dev] == [example.id for example in again] and dev.sha256 == again.sha256
    assert read("sorted", folder, Options(limit=120)).dev.drawn == ""
