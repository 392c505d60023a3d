"""The runs of a reproduction, each an ordinary command of a study, made once; and the verdicts of all papers' runs."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from headscope.errors import HeadscopeError, suggest
from headscope.front.reproduction_plan import PlannedRun, planned
from headscope.papers import judge, read_papers
from headscope.papers.reproduction import JOIN, read_reproduction
from headscope.papers.reproduction_page import frame, read_reproduced, write_reproduction
from headscope.papers.reproduction_record import MadeRun, ReproductionRecord, write_record
from headscope.papers.words import markdown
from headscope.report.cards.model_results import MeasuredModel, Source, read_all
from headscope.storage.files import write_atomically
from headscope.storage.run_lock import run_lock

FILE = "certificate.md"


def make(
    plans: Sequence[PlannedRun],
    record: ReproductionRecord,
    out: Path,
    values: Mapping[str, Any],
    say: Callable[[str], None],
) -> ReproductionRecord:
    """Make the runs of a plan, and write what was made after each of them; return the record with all runs.

    A result that is there, made by the same command from the same model, texts and version, is kept; a run that was
    stopped goes on.
    """
    runs: list[MadeRun] = []
    for plan in plans:
        runs.append(_made(plan, runs, out, values, say))
        rest = [MadeRun(later.run.name, lacks=later.lacks or "not run yet") for later in plans[len(runs) :]]
        record = ReproductionRecord(record.paper, record.model, record.limit, (*runs, *rest))
        write_record(record, out)
    return record


def _made(
    plan: PlannedRun, before: Sequence[MadeRun], out: Path, values: Mapping[str, Any], say: Callable[[str], None]
) -> MadeRun:
    from headscope.front.cli.report import write_joined
    from headscope.front.cli.saved_command import why_anew
    from headscope.front.cli.study import run_or_keep

    name = plan.run.name
    if plan.lacks:
        return MadeRun(name, lacks=plan.lacks)
    if lacking := next(_failed(plan, before), ""):
        return MadeRun(name, deviations=plan.deviations, lacks=f"needs what '{lacking}' makes")
    options = [] if plan.run.study == JOIN else _options(plan, values)
    words = [*plan.words, *options, "-o", str(out / name)]
    command = f"headscope {shlex.join(words)}"
    try:
        if plan.run.study == JOIN:
            say(f"{name}: headscope {JOIN}")
            write_joined([Path(word) for word in plan.words[1:]], out / name)
            return MadeRun(name, command, plan.deviations)
        anew = why_anew(plan.run.study, out / name, words)
        run_or_keep(plan.run.study, words, anew, lambda done: say(f"{name}: headscope {plan.words[0]}{done}"))
    except HeadscopeError as error:
        return MadeRun(name, command, plan.deviations, str(error))
    return MadeRun(name, command, plan.deviations)


def _options(plan: PlannedRun, values: Mapping[str, Any]) -> list[str]:
    """The options, of those that are given, that a study has, that its run leaves open, and that are no defaults."""
    from headscope.front.cli.options import DEFAULTS
    from headscope.front.cli.study import shared_words

    unknown = next((name for name in values if name not in DEFAULTS), "")
    if unknown:
        raise HeadscopeError(f"there is no option '{unknown}' of studies; {suggest(unknown, list(DEFAULTS))}")
    # all but what sets a run apart, such as the seed of another training
    return shared_words(plan.run.study, values, plan.run.options)


def _failed(plan: PlannedRun, before: Sequence[MadeRun]) -> Iterator[str]:
    """The runs that this one reads a model or a result of, and that were not made."""
    lacking = {run.name for run in before if run.lacks}
    return (name for name in plan.run.reads if name in lacking)


def reproduce(
    paper: str,
    model: str | Path = "minilm",
    *,
    data: str | Path,
    directory: str | Path,
    limit: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Numbers of a paper's tables and figures beside those of a model: a row for each.

    Each run is an ordinary command of a study, whose result is kept; `headscope reproduce` does the same. The page is
    `directory/reproduction.html`.

    * `paper`: "clark2019", "kovaleva2019", ...
    * `model`: A name or a folder.
    * `data`: The folder of the data sets, known by their usual names.
    * `directory`: The folder of the results. Those that are there, made by the same command, are kept.
    * `limit`: The largest number of examples of each corpus; by default as in the paper.
    * `options`: Options of all runs, such as `seed` and `resamples`.

    Raises `HeadscopeError` for an unknown paper, a missing folder, or data of which no run can be made.
    """
    reproduction, out = read_reproduction(paper), Path(directory)
    plans = planned(reproduction, str(model), Path(data), out, limit)
    if all(plan.lacks for plan in plans):
        raise HeadscopeError(f"no run of '{paper}' has its data ({plans[0].lacks})")
    record = ReproductionRecord(paper, str(model), limit, ())
    with run_lock(out, "headscope.reproduce"):
        make(plans, record, out, {**options, "quiet": True}, lambda line: None)
    write_reproduction(out)
    return frame(read_reproduced(out))


def write_certificate(out: Path, model: str) -> Path:
    """Write `out/certificate.md`, what all results in a folder say of every claim, with the published figures.

    Where no result measures a claim, the document has the command that does. Returns: its path.
    """
    sources = tuple(Source(path, result) for path, result in read_all([out]).items())
    judged = judge(MeasuredModel((model,), model, sources), read_papers())
    return write_atomically(out / FILE, f"# What the papers claim, of {model}\n\n{markdown(judged)}\n")
