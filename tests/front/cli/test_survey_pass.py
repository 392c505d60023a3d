"""The pass that studies of a survey share: their numbers are those of the separate commands, to the last bit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headscope import catalog, results
from headscope.front.cli.study import run_brief
from headscope.front.cli.survey_pass import read_shared
from headscope.front.survey.plan import shares
from headscope.models.random_weights import SEEDS
from headscope.passes import shards
from headscope.passes.forward import Check, Forward
from headscope.storage.kept_inputs import inputs_kept
from headscope.storage.lines import read_lines
from support.pages import not_written
from support.threaded_ray import use_threaded_ray
from support.tiers import in_turn

SHARING = [study for study in catalog.names("studies") if shares(study)]
FEW = ("--limit", "26", "--resamples", "10", "--batch-tokens", "200", "--no-figures", "--quiet", "--examples", "0")
MORE = {
    "probe": ("--epochs", "1", "--seeds", "1", "--no-random"),
    "structure": ("--epochs", "1", "--rank", "2"),
    "patterns": ("--shown", "0"),
}
MAPS = 1  # batches that relations reads again, for the maps of a sentence
TIMES = ("duration_s", "started", "command")


def commands(model: str, out: Path, *options: str) -> dict[str, list[str]]:
    """The command of each study that shares."""
    return {
        study: [study, model, "sample", *FEW, *MORE.get(study, ()), *options, "-o", str(out / study)]
        for study in SHARING
    }


def passes_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A function that counts the batches that were shown to observers since its last call."""
    kept, seen = Forward._show, list[object]()

    def show(forward: Forward, group: list) -> Check:
        if forward._at(group).shown is False:
            seen.append(group)
        return kept(forward, group)

    monkeypatch.setattr(Forward, "_show", show)

    def count() -> int:
        number = len(seen)
        seen.clear()
        return number

    return count


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of passes have twelve examples each."""
    monkeypatch.setattr(shards, "EXAMPLES", 12)


@pytest.fixture(scope="module")
def alone(model: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The folder of the results of the separate commands, and how many batches they read."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch, inputs_kept():
        patch.setattr("headscope.report.write", not_written)
        patch.setattr(shards, "EXAMPLES", 12)
        shown = passes_of(patch)
        for words in commands(model, folder).values():
            run_brief(words[0], words)
        return folder, shown()


@pytest.mark.always
@pytest.mark.parametrize("workers", in_turn(["1", "2"]))
def test_all_studies_that_share_have_the_numbers_of_the_separate_commands(
    model: str,
    alone: tuple[Path, int],
    tmp_path: Path,
    pages_not_written: None,
    small_shards: None,
    monkeypatch: pytest.MonkeyPatch,
    workers: str,
) -> None:
    shown, (folder, read_alone) = passes_of(monkeypatch), alone
    together = commands(model, tmp_path / "together", "--workers", workers)
    with inputs_kept():
        read_shared(together, tmp_path / "together", quiet=True)
        assert not list(tmp_path.rglob("pass-*"))  # of a few seconds: handed on in memory
        read = shown()
        for words in together.values():
            run_brief(words[0], words)
        assert workers == "2" or (read > 4 and shown() == MAPS)
        of_each, rest = divmod(read, 1 + SEEDS)  # the trained model, and one of random weights for each seed
        # two read hidden states; relations and trees also read random weights
        assert workers == "2" or (rest, read_alone) == (0, of_each * (len(SHARING) - 2 + 2 * SEEDS) + MAPS)
    for study in SHARING:
        one, other = (results.read(path / study) for path in (tmp_path / "together", folder))
        for result in (one, other):
            result.attrs = {name: value for name, value in result.attrs.items() if name not in TIMES}
        assert one.identical(other), study
    assert not list(tmp_path.rglob(".headscope.journal/pass-*"))


def test_a_shared_pass_goes_on_from_its_checkpoint(
    model: str, tmp_path: Path, journal_often: None, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, kept = passes_of(monkeypatch), Forward._show
    fewer = commands(model, tmp_path, "--limit", "40")
    some = {study: fewer[study] for study in ("profile", "syntax")}
    left = iter([True] * 5)

    def show(forward: Forward, group: list) -> Check:
        if not forward._at(group).shown and not next(left, False):
            raise KeyboardInterrupt
        return kept(forward, group)

    with inputs_kept():
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Forward, "_show", show)
            read_shared(some, tmp_path, quiet=True)
        assert shown() == 5 and list(tmp_path.rglob("pass-1"))
        read_shared(some, tmp_path, quiet=True)
        again = shown()
        assert len(list(tmp_path.glob("*/.headscope.journal/pass-1"))) == 2
        read_shared(some, tmp_path, quiet=True)
    assert 0 < again < 11 and shown() == 0


@pytest.mark.thorough
def test_workers_of_a_cluster_read_the_shared_pass_with_the_bits_of_one_process(
    model: str, tmp_path: Path, journal_often: None, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = use_threaded_ray(monkeypatch)
    one = commands(model, tmp_path / "one")
    several = commands(model, tmp_path / "several", "--engine", "ray", "--workers", "2")
    for some, folder in ((one, "one"), (several, "several")):
        with inputs_kept():
            read_shared(some, tmp_path / folder, quiet=True)
    assert len(ray.actors) == 2 * (1 + SEEDS)
    passes = [(study, 1) for study in SHARING] + [(study, 1 + SEEDS) for study in ("relations", "structure", "trees")]
    for study, number in passes:
        kept = [tmp_path / name / study / ".headscope.journal" / f"pass-{number}" for name in ("one", "several")]
        first, second = ([line for line in read_lines(path)][1:] for path in kept)
        assert without_seconds(first) == without_seconds(second) and first, study


def without_seconds(lines: list) -> list:
    """Lines of a checkpoint, without the time that they took."""
    return [line | {"part": line["part"] | {"seconds": 0}} for line in lines]
