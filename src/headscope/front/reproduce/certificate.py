"""All reproductions of a model in one go, and a document of what its results say of every claim."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headscope.front.reproduce.costs import config_of, estimate
from headscope.front.reproduce.plan import PlannedRun, planned
from headscope.papers import judge, read_papers, words
from headscope.papers.reproduction import papers, read_reproduction
from headscope.report.cards.model_results import MeasuredModel, Source, read_all
from headscope.storage.files import write_atomically

FILE = "certificate.md"


class RunPlan(NamedTuple):
    """A run of a paper: whether it runs, its command or what it lacks, seconds on one core, and MiB."""

    paper: str
    run: str
    runs: bool
    reads: str
    seconds: float
    memory: int
    disk: int


def all_planned(model: str, data: Path | None, out: Path, limit: int | None) -> dict[str, list[PlannedRun]]:
    """The plan of each paper, whose runs are in a folder of its name."""
    return {name: planned(read_reproduction(name), model, data, out / name, limit) for name in papers()}


def rows(plans: Mapping[str, Sequence[PlannedRun]], model: str, limit: int | None) -> tuple[list[RunPlan], bool]:
    """The runs of all papers, and whether the shape of BERT-base was assumed."""
    config, assumed = config_of(model)
    listed: list[RunPlan] = []
    for paper, runs in plans.items():
        for run in runs:
            cost = None if run.lacks else estimate(run, config, limit)
            numbers = (cost.seconds, cost.memory, cost.disk) if cost else (0.0, 0, 0)
            listed.append(RunPlan(paper, run.run.name, not run.lacks, run.lacks or " ".join(run.words), *numbers))
    return listed, assumed


def document(model: str, folders: Iterable[Path]) -> str:
    """The verdict on every claim, the published figure with how sure it is, and the command where none is measured.

    * `folders`: of results, all taken as of the one model that was reproduced, fine-tuned or not.
    """
    sources = tuple(Source(path, result) for path, result in read_all(list(folders)).items())
    judged = judge(MeasuredModel((model,), model, sources), read_papers())
    return f"# What the papers claim, of {model}\n\n{words.markdown(judged)}"


def write_document(out: Path, model: str) -> Path:
    """Write `out/certificate.md`; return its path."""
    return write_atomically(out / FILE, document(model, [out]) + "\n")
