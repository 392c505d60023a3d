"""Data sets of the hub, as far as a machine without network can tell: saved folders, local files, clear errors."""

import io
import tarfile
import time

import datasets
import huggingface_hub
import pytest

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from support.written import texts

FEATURES = datasets.Features(
    premise=datasets.Value("string"),
    hypothesis=datasets.Value("string"),
    label=datasets.ClassLabel(names=["no", "yes"]),
)


def table(*labels):
    rows = {"premise": [f"a{label}" for label in labels], "hypothesis": ["b"] * len(labels), "label": list(labels)}
    return datasets.Dataset.from_dict(rows, features=FEATURES)


@pytest.fixture
def saved(tmp_path):
    folder = tmp_path / "tiny"
    splits = {"train": table(0, 1), "validation_matched": table(1, -1, 0), "test": table(-1)}
    datasets.DatasetDict(splits.items()).save_to_disk(folder)
    return folder


def labels(found):
    return [example.label for example in found]


def test_a_saved_folder_is_read_with_its_class_names(saved):
    found = read(saved, Options(kind="hub"))
    assert labels(found) == ["yes", None, "no"]
    assert texts(found)[0] == ["a1", "b"]
    assert [example.id for example in found] == ["tiny:1", "tiny:2", "tiny:3"]


def test_a_split_is_named(saved):
    assert labels(read(f"hub:{saved}", Options(split="train"))) == ["no", "yes"]


def test_a_missing_split_is_an_error(saved):
    with pytest.raises(HeadscopeError, match=r"tiny': no split 'dev'; there are: train, validation_matched, test$"):
        read(saved, Options(kind="hub", split="dev"))


def test_columns_are_named(saved):
    assert texts(read(saved, Options(kind="hub", columns="hypothesis", limit=1))) == [["b"]]
    with pytest.raises(HeadscopeError, match=r"no column 'premises'; did you mean 'premise'\? there are: premise, hyp"):
        read(saved, Options(kind="hub", columns="premises"))


def test_a_single_saved_split_is_read(tmp_path):
    table(1).save_to_disk(tmp_path / "one")
    assert labels(read(tmp_path / "one", Options(kind="hub"))) == ["yes"]


def test_a_folder_of_files_is_streamed_as_the_hub_is(tmp_path):
    (tmp_path / "validation.csv").write_text("sentence,label\nIt rained.,1\n,0\n")
    found = read(tmp_path, Options(kind="hub"))
    assert texts(found) == [["It rained."]]
    assert labels(found) == ["1"]
    assert found.skipped == {"empty": 1}


def test_the_hash_is_that_of_the_texts(saved):
    def digest(split, **options):
        return read(saved, Options(kind="hub", split=split, **options)).sha256

    assert digest("train") == digest("train") != digest("train", limit=1)
    assert digest("train") != digest("test")


@pytest.mark.parametrize("offline", [False, True])
def test_without_network_there_is_one_clear_line_and_soon(hub_library, monkeypatch, offline):
    hub_library(ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE=offline)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", offline)
    start = time.monotonic()
    with pytest.raises(HeadscopeError) as error:
        read("hub:nyu-mll/glue:mrpc")
    assert time.monotonic() - start < 5
    message = str(error.value)
    assert message.startswith("corpus 'nyu-mll/glue:mrpc' cannot be read: ")
    assert message.endswith("; check the network and hub:NAME:CONFIG, or name a file")
    assert "\n" not in message


def test_name_and_configuration_reach_the_library(hub_library, monkeypatch):
    asked = []
    hub_library(HF_HUB_OFFLINE=False)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda self, name, timeout: asked.append(name))

    def load(name, config, *, streaming):
        asked.append((name, config, streaming))
        return datasets.IterableDatasetDict([("validation", table(1).to_iterable_dataset())])

    def builder(name, config):
        asked.append((name, config))
        return type("Parquet", (), {"__module__": "datasets.packaged_modules.parquet.parquet"})()

    monkeypatch.setattr(datasets, "load_dataset", load)
    monkeypatch.setattr(datasets, "load_dataset_builder", builder)
    assert labels(read("hub:nyu-mll/glue:mrpc")) == ["yes"]
    assert asked == ["nyu-mll/glue", ("nyu-mll/glue", "mrpc"), ("nyu-mll/glue", "mrpc", True)]


def packed(folder, name, **members):
    """A folder with a .tar whose members have these suffixes and contents."""
    folder.mkdir()
    with tarfile.open(folder / name, "w") as archive:
        for suffix, content in members.items():
            member = tarfile.TarInfo(f"0001.{suffix}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return folder


def test_an_archive_of_pickles_is_refused_unread(tmp_path, never):
    import torch

    content = io.BytesIO()
    torch.save({"label": 1}, content)
    folder = packed(tmp_path / "archive", "train.tar", pth=content.getvalue(), txt=b"a text")
    never("torch.load")
    with pytest.raises(HeadscopeError, match=r"is read as webdataset, which may unpickle .*; only csv, json, parquet"):
        list(read(f"hub:{folder}"))


def test_a_pickled_table_is_refused_unread(tmp_path, never):
    import pandas

    (tmp_path / "pickled").mkdir()
    pandas.DataFrame({"sentence": ["a"]}).to_pickle(tmp_path / "pickled" / "train.pkl")
    never("pandas.read_pickle")
    with pytest.raises(HeadscopeError, match=r"pickled' (is read as pandas|cannot be read)"):
        list(read(f"hub:{tmp_path / 'pickled'}"))
