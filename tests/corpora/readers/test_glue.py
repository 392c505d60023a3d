"""Tasks of GLUE."""

from collections import Counter

import pytest

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError

MRPC = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tIt rained .\tIt was wet .\n"


@pytest.fixture
def glue(tmp_path):
    for name, content in {
        "MRPC/dev.tsv": MRPC,
        "MRPC/train.tsv": MRPC * 1 + "0\t1\t2\tYes .\tNo .\n",
        "CoLA/dev.tsv": "gj04\t0\t*\tThe doll it.\n",
        "STS-B/dev.tsv": "sentence1\tsentence2\tscore\na\tb\t4.750\n",
        "MNLI/dev_matched.tsv": "sentence1\tsentence2\tlabel1\tgold_label\na\tb\tx\tneutral\n",
        "MNLI/dev_mismatched.tsv": "sentence1\tsentence2\tlabel1\tgold_label\na\tb\tx\tcontradiction\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def labels(found):
    return [example.label for example in found]


@pytest.mark.parametrize("task", [None, "mrpc", "MRPC"])
def test_a_task_is_read_from_its_folder(glue, task):
    found = read(glue / "MRPC", Options(kind="glue", task=task))
    (example,) = found
    assert [segment[0].text for segment in example.segments] == ["It rained .", "It was wet ."]
    assert (example.id, example.label, found.name) == ("dev.tsv:2", "1", "MRPC/dev.tsv")


@pytest.mark.parametrize("task", ["STS-B", "stsb", "sts_b"])
def test_a_task_is_read_from_the_folder_of_all(glue, task):
    assert labels(read(glue, Options(kind="glue", task=task))) == [4.75]


def test_cola_has_no_header(glue):
    (example,) = read(f"glue:{glue / 'CoLA'}")
    assert (example.first[0].text, example.label) == ("The doll it.", "0")


def test_splits(glue):
    assert labels(read(glue, Options(kind="glue", task="mrpc", split="train"))) == ["1", "0"]
    assert labels(read(glue, Options(kind="glue", task="mnli"))) == ["neutral"]
    assert labels(read(glue, Options(kind="glue", task="mnli", split="dev_mismatched"))) == ["contradiction"]


def test_a_file_of_a_task_is_read(glue):
    assert labels(read(glue / "STS-B" / "dev.tsv", Options(kind="glue"))) == [4.75]


@pytest.mark.parametrize(
    ("folder", "options", "message"),
    [
        ("MRPC", {"task": "mrcp"}, r"no GLUE task 'mrcp'; did you mean 'MRPC'\? there are: CoLA, MNLI, .*WNLI$"),
        ("", {"task": "rte"}, r"no folder 'RTE' in it; name the folder that has it$"),
        ("CoLA", {"split": "train"}, r"CoLA': no split 'train'; there is: dev.tsv$"),
        ("cola", {}, r"cola' does not exist; name the folder of a GLUE task$"),
    ],
)
def test_what_is_missing_is_an_error(glue, folder, options, message):
    with pytest.raises(HeadscopeError, match=message):
        read(glue / folder, Options(kind="glue", **options))


def test_a_folder_that_is_no_task_is_an_error(glue):
    with pytest.raises(HeadscopeError, match=rf"no GLUE task '{glue.name}'; .*there are: CoLA"):
        read(glue, Options(kind="glue"))


def test_a_score_that_is_no_number_is_bad(glue):
    path = glue / "STS-B" / "dev.tsv"
    path.write_text("sentence1\tsentence2\tscore\na\tb\thigh\n")
    with pytest.raises(HeadscopeError, match=r"dev.tsv', line 2: score 'high' is not a number; correct it"):
        read(path, Options(kind="glue"))


@pytest.mark.parametrize(
    ("task", "split", "n_examples", "n_labels"),
    [
        ("CoLA", "dev", 1043, 2),
        pytest.param("CoLA", "train", 8551, 2, marks=pytest.mark.thorough),
        ("MNLI", "dev", 9815, 3),
        ("MRPC", "dev", 408, 2),
        pytest.param("MRPC", "train", 3668, 2, marks=pytest.mark.thorough),
        pytest.param("QNLI", "dev", 5463, 2, marks=pytest.mark.thorough),
        ("QQP", "dev", 3497, 2),
        pytest.param("QQP", "train", 20000, 2, marks=pytest.mark.thorough),
        ("RTE", "dev", 277, 2),
        ("RTE", "train", 2490, 2),
        pytest.param("SNLI", "dev", 9842, 3, marks=pytest.mark.thorough),
        ("SST-2", "dev", 872, 2),
        ("STS-B", "dev", 1500, None),
        ("WNLI", "dev", 71, 2),
        ("WNLI", "train", 635, 2),
    ],
)
def test_real_tasks(real_data, task, split, n_examples, n_labels):
    found = read(real_data / "glue", Options(kind="glue", task=task, split=split))
    assert found.n_examples == n_examples
    assert found.skipped == {}
    examples = list(found)
    assert n_labels is None or len(Counter(labels(examples))) == n_labels
    paired = {bool(example.second) for example in examples}
    assert paired == {task not in ("CoLA", "SST-2")}


def test_labels_of_real_tasks(real_data):
    folder = real_data / "glue"
    assert Counter(labels(read(folder, Options(kind="glue", task="mrpc", split="train")))) == {"1": 2474, "0": 1194}
    scores = labels(read(folder, Options(kind="glue", task="stsb")))
    assert all(isinstance(score, float) and 0 <= score <= 5 for score in scores)


def test_a_real_table_is_guessed(real_data):
    path = real_data / "glue" / "MRPC" / "dev.tsv.gz"
    assert list(read(path)) == list(read(path.parent, Options(kind="glue")))
