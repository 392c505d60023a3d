"""What a reproduction runs, on which of the data sets of a folder, and what is missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope import catalog
from headscope.corpora.readers.glue import FILES, GLUE, glue_name
from headscope.errors import HeadscopeError, plain_name
from headscope.papers.data_sets import DATA_SETS, Found, find
from headscope.papers.reproduction import JOIN, Reproduction, Run, needed

FLAGS = {"training_limit": "train-limit"}


@dataclass(frozen=True)
class PlannedRun:
    """A run, the words of its command (none if it cannot run), what stands in for the paper's data, what it lacks."""

    run: Run
    words: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    lacks: str = ""


def planned(
    reproduction: Reproduction, model: str, data: Path | None, out: Path, limit: int | None = None
) -> list[PlannedRun]:
    """The runs of a reproduction in their order. Raises `HeadscopeError` if there is no such folder."""
    names = list(dict.fromkeys(name for run in reproduction.runs for name in run.data.values()))
    located = find(data, names) if data else {}
    plans: dict[str, PlannedRun] = {}
    for run in reproduction.runs:
        plans[run.name] = _planned(run, model, located, out, limit, plans)
    return list(plans.values())


def _planned(
    run: Run, model: str, located: Mapping[str, Found], out: Path, limit: int | None, before: Mapping[str, PlannedRun]
) -> PlannedRun:
    for name in dict.fromkeys(needed(run)):
        if name not in located:
            return PlannedRun(
                run, lacks=f"needs {DATA_SETS[name].words}: {DATA_SETS[name].source}; name its folder with --data"
            )
    for other in run.reads:
        if before[other].lacks:
            return PlannedRun(run, lacks=f"needs what '{other}' makes")
    tasks = [task for task in run.tasks if _has(located[run.data["data"]].path, task, run.trains)]
    missing = [task for task in run.tasks if task not in tasks]
    if run.tasks and not tasks:
        return PlannedRun(
            run, lacks=f"needs one of the tasks {', '.join(run.tasks)} (GLUE); name their folder with --data"
        )
    if run.study == JOIN:
        return PlannedRun(run, (JOIN, *(str(out / other) for other in run.results.values())))
    results = (word for name, other in run.results.items() for word in (f"--{name}", str(out / other)))
    words = (*_models(run, model, out), *_data(run, located), *results, *_options(run, tasks, limit))
    deviations = [located[name].deviation for name in run.data.values() if name in located and located[name].deviation]
    deviations += [f"Without {', '.join(missing)}, of which the folder has no file."] if missing else []
    sentences = tuple(f"{text[0].upper()}{text[1:].rstrip('.')}." for text in dict.fromkeys(deviations))
    return PlannedRun(run, (catalog.command_name(run.study), *words), sentences)


def _models(run: Run, model: str, out: Path) -> Iterator[str]:
    yield str(out / run.model) if run.model else model
    if run.other:
        yield str(out / run.other)


def _data(run: Run, located: Mapping[str, Found]) -> Iterator[str]:
    """The corpus, and options with the paths of data sets."""
    for option, name in run.data.items():
        if name in located:
            yield from [str(located[name].path)] if option == "corpus" else [f"--{option}", str(located[name].path)]


def _options(run: Run, tasks: list[str], limit: int | None) -> Iterator[str]:
    options: dict[str, Any] = dict(run.options)
    if tasks:
        options["task"] = ",".join(tasks)
    if limit is not None:
        options["limit"] = min(limit, int(options.get("limit", limit)))
        if "train" in run.data:
            options["training_limit"] = limit
    for name, value in options.items():
        flag = f"--{'no-' if value is False else ''}{FLAGS.get(name, name).replace('_', '-')}"
        yield from [flag] if isinstance(value, bool) else [flag, str(value)]


def _has(folder: Path, task: str, train: bool) -> bool:
    """Whether a folder of GLUE has the dev split of a task, and its train split where that is wanted."""
    name = glue_name(task)
    if name not in GLUE:
        raise HeadscopeError(f"task '{task}' is not one of GLUE")
    paths = [path for path in folder.iterdir() if plain_name(path.name) == plain_name(str(name))]
    splits = ("dev", "train") if train else ("dev",)
    return all(
        any((path / f"{file}{packed}").is_file() for path in paths for file in FILES[split] for packed in ("", ".gz"))
        for split in splits
    )
