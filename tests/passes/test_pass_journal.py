"""A pass that was killed goes on from its last checkpoint, and ends with the same bits."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForMaskedLM

import headscope
import headscope.passes.settings as pass_settings
from headscope import Model, Settings, catalog
from headscope.corpora import Corpus, Options, read
from headscope.errors import HeadscopeError
from headscope.passes import Pass
from headscope.passes.settings import PassJournal
from headscope.storage import lines
from headscope.storage.codec import decode_array, encode
from headscope.storage.lines import line_of, read_lines
from headscope.viewer.example_index import example_index
from support import runs
from support.killed import Killed
from support.same import assert_same
from support.small_model import small_model
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

pytestmark = pytest.mark.usefixtures("small_shards")
ODD = np.zeros((2, 1, 3))
PASSES: dict[str, Callable[..., xr.Dataset]] = {
    "profile": lambda *given: catalog.load("studies", "profile").run(*given),
    "predictions": lambda model, *given: catalog.load("studies", "profile").run(
        words_model(), *given, predicted_frequency=True
    ),
    "syntax": lambda *given: catalog.load("studies", "syntax").run(*given),
    "relations": lambda *given: catalog.load("studies", "relations").run(*given),
    "coreference": lambda *given: catalog.load("studies", "coreference").run(*given),
    "clusters": lambda *given: catalog.load("studies", "clusters").run(*given),
    "gradients": lambda *given: catalog.load("studies", "gradients").run(*given),
    "trees": lambda *given: catalog.load("studies", "trees").run(*given),
    "geometry": lambda *given: catalog.load("studies", "geometry").run(*given),
    "patterns": lambda model, corpus, settings: catalog.load("studies", "patterns").run(
        model, (corpus, read("sample", Options(limit=9))), settings
    ),
    "compare": lambda model, corpus, settings: catalog.load("studies", "compare").run(
        (model, small_model(seed=1)), corpus, settings
    ),
    "attributions": lambda *given: catalog.load("studies", "attributions").run(*given, scored=2, flow=1, altered=1),
    "probe": lambda *given: runs.probe(*given, epochs=1, seeds=1),
    "structure": lambda *given: runs.structure(*given, epochs=1, rank="2", random=False),
    "layers": lambda model, corpus, settings: catalog.load("studies", "layers").run(
        model, (corpus,), settings, tasks="part_of_speech", codes=False, mix=False, random=False
    ),
    "index": example_index,
}


# One of each kind: values that add up, counts and then values, items that are gathered, several corpora, two models,
# trainings, an index.
KINDS = ("profile", "predictions", "syntax", "patterns", "compare", "probe", "index")


def first(name: str) -> Any:
    """A pass, thorough where another of its kind is in the first tier."""
    return pytest.param(name, marks=() if name in KINDS else pytest.mark.thorough)


def words_model() -> Model:
    """A model with a head for masked words."""
    return headscope.wrap(tiny_bert(0, BertForMaskedLM, hidden_size=8, num_attention_heads=2), tiny_tokenizer())


class Run:
    """A run whose process may be killed after some batches, with its notices."""

    def __init__(self, folder: Path, kill_after: int = 10**9, **run: Any):
        self.batches, self.kill_after, self.notices = 0, kill_after, list[str]()
        journal = PassJournal(folder, {"study": "made"} | run)
        self.settings = Settings(
            resamples=5, batch_tokens=100, journal=journal, on_progress=self.count, on_notice=self.notices.append
        )

    def count(self, inputs: int) -> None:
        self.batches += 1
        if self.batches > self.kill_after:
            raise Killed


@pytest.mark.parametrize("name", [first(name) for name in PASSES])
def test_a_killed_run_goes_on_and_ends_with_the_same_bits(
    name: str, model: Model, corpus: Corpus, tmp_path: Path
) -> None:
    uninterrupted = Run(tmp_path / "whole")
    expected = PASSES[name](model, corpus, uninterrupted.settings)
    for share in (0.55, 0.3):
        killed = Run(tmp_path / "killed", round(uninterrupted.batches * share))
        with pytest.raises(Killed):
            PASSES[name](model, corpus, killed.settings)
    last = Run(tmp_path / "killed")
    assert_same(PASSES[name](model, corpus, last.settings), expected)
    assert all("inputs are done by" in notice for notice in killed.notices + last.notices), (
        killed.notices,
        last.notices,
    )
    assert last.notices and last.batches < uninterrupted.batches


def measured(model: Model, corpus: Corpus, run: Run) -> Any:
    return Pass(model, corpus, run.settings).measure(["entropy"]).read()


def gathered(model: Model, corpus: Corpus, run: Run) -> Any:
    return PASSES["syntax"](model, corpus, run.settings)


def begun(model: Model, corpus: Corpus, folder: Path, read: Callable[..., Any] = measured) -> Path:
    """The file of a pass that was killed."""
    with pytest.raises(Killed):
        read(model, corpus, Run(folder, 9))
    return folder / "pass-1"


def test_the_file_is_that_of_the_last_checkpoint_or_of_all_new_items(
    model: Model, corpus: Corpus, tmp_path: Path
) -> None:
    for read_ in (measured, gathered):
        path = begun(model, corpus, tmp_path / read_.__name__, read_)
        assert (len(list(read_lines(path))) > 2) == (read_ is gathered)
        assert [file.name for file in path.parent.iterdir()] == ["pass-1"]


@pytest.mark.parametrize("read", [measured, gathered])
def test_a_torn_or_damaged_file_costs_only_what_it_had(
    model: Model, corpus: Corpus, tmp_path: Path, read: Callable[..., Any]
) -> None:
    expected = read(model, corpus, Run(tmp_path / "whole"))
    path = begun(model, corpus, tmp_path / "killed", read)
    content, random = path.read_bytes(), Random(0)
    for offset in random.sample(range(len(content)), 4):
        changed = bytearray(content)
        changed[offset] ^= 1
        for spoilt in (content[:offset], bytes(changed)):
            path.write_bytes(spoilt)
            run = Run(tmp_path / "killed")
            result = read(model, corpus, run)
            assert len(run.notices) == 1 and "\n" not in run.notices[0]
            if read is gathered:
                assert_same(result, expected)
            else:
                assert result.value["entropy"].resampled_total.tobytes() == (
                    expected.value["entropy"].resampled_total.tobytes()
                )


@pytest.mark.parametrize(
    "part", [None, 1, [], {"state": 1}, {"state": [["entropy", {"total": {"dtype": "O", "shape": [1], "data": ""}}]]}]
)
def test_a_hostile_file_gets_one_line(model: Model, corpus: Corpus, tmp_path: Path, part: Any) -> None:
    path = begun(model, corpus, tmp_path)
    first, _ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + line_of({"items": 0, "part": part}))
    run = Run(tmp_path)
    measured(model, corpus, run)
    assert len(run.notices) == 1 and "\n" not in run.notices[0]
    assert run.notices[0].endswith("; the pass starts again")


def forged(value: Any, seed: int) -> Any:
    """The JSON of a part with another number, size, type or name in one place."""
    random, nodes = Random(seed), list[tuple[Any, Any]]()

    def visit(parent: Any) -> None:
        for key, child in list(parent.items() if isinstance(parent, dict) else enumerate(parent)):
            nodes.append((parent, key))
            if isinstance(child, dict | list) and child:
                visit(child)

    visit(value)
    parent, key = random.choice(nodes)
    parent[key] = random.choice([-1, 10**30, float("inf"), "x", None, [], [0], [10**12], "<U9", "<f8", encode(ODD)])
    return value


@pytest.mark.parametrize("read", [measured, gathered])
def test_a_forged_file_never_ends_the_run(
    model: Model, corpus: Corpus, tmp_path: Path, read: Callable[..., Any]
) -> None:
    path = begun(model, corpus, tmp_path, read)
    first, *later = path.read_bytes().splitlines(keepends=True)
    anew = 0
    for seed in range(10):
        records = [json.loads(line.partition(b" ")[2]) for line in later]
        records[seed % len(records)]["part"] = forged(records[seed % len(records)]["part"], seed)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join([first, *map(line_of, records)]))
        run = Run(tmp_path)
        read(model, corpus, run)
        assert not any("\n" in notice for notice in run.notices)
        anew += run.notices[-1].endswith("starts again")
    assert anew > 2


@pytest.mark.parametrize("read", [measured, gathered])
def test_values_of_other_names_or_sizes_start_the_pass_anew(
    model: Model, corpus: Corpus, tmp_path: Path, read: Callable[..., Any]
) -> None:
    """Their types are right, so that they are found at the first part that they are merged with."""
    expected = read(model, corpus, Run(tmp_path / "all"))
    path = begun(model, corpus, tmp_path / "killed", read)
    first, line, *later = path.read_bytes().splitlines(keepends=True)
    record = json.loads(line.partition(b" ")[2])
    state = record["part"]["state"]
    if read is measured:
        state[0][0] = "other"
    else:
        for name in ("equals", "sink"):  # the arrays with an axis of heads
            of_heads = decode_array(state[0][name])
            state[0][name] = encode(np.hstack([of_heads, of_heads]))
    path.write_bytes(b"".join([first, line_of(record), *later]))
    run = Run(path.parent)
    result = read(model, corpus, run)
    assert "inputs are done by" in run.notices[0] and run.notices[-1].endswith("; the pass starts again")
    if read is gathered:
        assert_same(result, expected)
    else:
        assert result.value["entropy"].total.tobytes() == expected.value["entropy"].total.tobytes()
        assert result.attributes["skipped"] == expected.attributes["skipped"]


def test_another_model_corpus_or_setting_starts_anew_and_says_why(model: Model, corpus: Corpus, tmp_path: Path) -> None:
    content = begun(model, corpus, tmp_path).read_bytes()
    fewer = read("sample", Options(limit=29))
    for one, text, run, why in (
        (small_model(seed=1), corpus, Run(tmp_path), "was begun with another model"),
        (model, fewer, Run(tmp_path), "was begun with examples 30, now it is 29; the pass starts again"),
        (model, corpus, Run(tmp_path, bias="1"), "was begun with bias None, now it is 1; the pass starts again"),
    ):
        (tmp_path / "pass-1").write_bytes(content)
        measured(one, text, run)
        assert [why in notice for notice in run.notices] == [True]


def test_a_full_disk_ends_the_pass_in_one_line_and_keeps_the_checkpoint(
    model: Model, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for read_ in (measured, gathered):
        path = begun(model, corpus, tmp_path / read_.__name__, read_)
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(lines, "write", full)
            with pytest.raises(HeadscopeError, match=r"no space left on the disk; make room .* what was done is kept"):
                read_(model, corpus, Run(path.parent))
        assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == ["pass-1"]


@pytest.fixture
def journal_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass ends before it would keep a checkpoint."""
    monkeypatch.setattr(pass_settings, "SECONDS", 10**6)


def test_ctrl_c_keeps_the_shards_that_are_done(
    model: Model, corpus: Corpus, tmp_path: Path, journal_late: None
) -> None:
    uninterrupted = measured(model, corpus, Run(tmp_path / "whole"))
    stopped = Run(tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        stopped.settings.__dict__["on_progress"] = _stop_at(9)
        measured(model, corpus, stopped)
    assert "start the same command again to resume" in stopped.notices[0]
    last = Run(tmp_path / "stopped")
    result = measured(model, corpus, last)
    assert "inputs are done by" in last.notices[0]
    assert result.value["entropy"].total.tobytes() == uninterrupted.value["entropy"].total.tobytes()
    assert json.loads(str(result.attributes["skipped"])) == json.loads(str(uninterrupted.attributes["skipped"]))


def _stop_at(batch: int) -> Callable[[int], None]:
    numbers = iter(range(10**6))

    def stop(inputs: int) -> None:
        if next(numbers) == batch:
            raise KeyboardInterrupt

    return stop


def test_a_short_run_writes_nothing(model: Model, corpus: Corpus, tmp_path: Path, journal_late: None) -> None:
    measured(model, corpus, Run(tmp_path / "journal"))
    assert not (tmp_path / "journal").exists()


def test_a_model_whose_files_change_during_a_pass_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model")

    def measured_while(name: str, change: Callable[[bytes], bytes]) -> None:
        model = headscope.load(str(folder))

        def edit(inputs: int) -> None:
            (folder / name).write_bytes(change((folder / name).read_bytes()))

        Pass(model, corpus, Settings(resamples=5, on_progress=edit)).measure(["entropy"]).read()

    measured_while("model.safetensors", lambda content: content)
    for name in ("model.safetensors", "tokenizer.json"):
        with pytest.raises(HeadscopeError, match=r"model '.*model' has changed since the run began; start the same"):
            measured_while(name, lambda content: content + b" ")
        save_tiny(folder)


def test_a_corpus_that_changes_during_a_pass_is_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("The cat slept.\n" * 3)
    corpus = read(str(path))

    def measured_while(text: str) -> None:
        def change(inputs: int) -> None:
            path.write_text(text)

        Pass(model, corpus, Settings(resamples=5, on_progress=change)).measure(["entropy"]).read()

    measured_while("The cat slept.\n" * 3)
    with pytest.raises(HeadscopeError, match=r"corpus '.*texts.txt' has changed since the run began"):
        measured_while("The dog slept.\n" * 3)
