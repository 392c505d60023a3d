"""What a reproduction runs, on which of the data sets of a folder, what is missing, and what it takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headscope import catalog
from headscope.corpora.parsing.lines import opened
from headscope.corpora.readers.glue import FILES, GLUE
from headscope.errors import HeadscopeError, plain_name, spelled
from headscope.front.cli.parameters import as_words
from headscope.front.survey.costs import BATCH, BUILT_IN, LIBRARIES, shape_of
from headscope.front.survey.plan import in_survey
from headscope.papers.data_sets import DATA_SETS, Found, find
from headscope.papers.reproduction import JOIN, Reproduction, Run, needed, papers, read_reproduction
from headscope.study import FORWARD, Cost

# BERT-base: that of a model whose configuration is not on this machine.
ASSUMED: Mapping[str, Any] = {
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "vocab_size": 30522,
}
# Passes over the texts of studies that a survey does not run: two models; a training step is three passes.
OTHERS = {"compare": Cost(2, 0.1), "finetune": Cost(1, 0)}
STEP, EPOCHS, MOST_TOKENS = 3, 3, 128
# Bytes of a token of plain text, in tables with other columns too; tokens of a segment of paragraphs.
BYTES, SEGMENT = 5, 128


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


def _options(run: Run, tasks: list[str], limit: int | None) -> list[str]:
    options: dict[str, Any] = dict(run.options)
    if tasks:
        options["task"] = ",".join(tasks)
    if limit is not None:
        options["limit"] = min(limit, int(options.get("limit", limit)))
        if "train" in run.data:
            options["training_limit"] = limit
    return as_words(options)


def _has(folder: Path, task: str, train: bool) -> bool:
    """Whether a folder of GLUE has the dev split of a task, and its train split where that is wanted."""
    if spelled(task, GLUE) is None:
        raise HeadscopeError(f"task '{task}' is not one of GLUE")
    return all(_glue_files(folder, [task], split) for split in (("dev", "train") if train else ("dev",)))


def _glue_files(folder: Path, tasks: Iterable[str], split: str) -> list[Path]:
    """The files of a split of some tasks in a folder of GLUE."""
    names = {plain_name(str(spelled(task, GLUE))) for task in tasks}
    folders = [path for path in folder.iterdir() if plain_name(path.name) in names]
    files = (path / f"{name}{end}" for path in folders for name in FILES[split] for end in ("", ".gz"))
    return [file for file in files if file.is_file()]


class RunEstimate(NamedTuple):
    """Seconds on one core, and MiB of memory and of files that stay."""

    seconds: float = 0.0
    memory: int = 0
    disk: int = 0


def config_of(model: str) -> tuple[Mapping[str, Any], bool]:
    """The configuration of a model, and whether it is BERT-base's because the model's own is not here."""
    from headscope.models.checkpoint import locate

    try:
        return locate(model).config, False
    except HeadscopeError:
        return ASSUMED, True


def estimate(plan: PlannedRun, config: Mapping[str, Any], limit: int | None = None) -> RunEstimate:
    """What a run that lacks nothing takes; `limit`: the largest number of examples of each corpus."""
    shape, study, options = shape_of(config), plan.run.study, plan.run.options
    if study == JOIN:
        return RunEstimate(1.0, LIBRARIES, 0)
    cost = OTHERS.get(study) or in_survey(study).cost
    heads = shape.layers * shape.heads / (BUILT_IN.layers * BUILT_IN.heads)
    most = min((int(number) for number in (options.get("limit"), limit) if number is not None), default=None)
    sizes = [_limited(path, most) for path in _files(plan)]
    tokens = sum(sizes) / 1000
    passes = cost.passes * (heads if study in ("ablate", "prune") else 1)
    seconds = tokens * (passes * (FORWARD * shape.size + cost.own * heads) + cost.after * heads) + cost.fixed
    trainings, models = _trainings(plan)
    seconds += trainings * tokens * EPOCHS * STEP * FORWARD * shape.size
    memory = LIBRARIES + BATCH * heads + shape.mib * (4 if trainings else 2 if study == "compare" else 1)
    return RunEstimate(seconds, round(memory), round(models * shape.mib))


def _trainings(plan: PlannedRun) -> tuple[int, int]:
    """How often the texts of a run are trained on, and how many models it keeps."""
    if plan.run.study != "finetune":
        return 0, int(plan.run.study == "prune")
    if plan.run.options.get("table"):  # from pre-trained and from random weights; of a table all four starts are kept
        return 2, 4 * len(plan.run.tasks)
    seeds = int(plan.run.options.get("weight_seeds", 1))
    return seeds, seeds if plan.run.options.get("all_models") else 1


def _files(plan: PlannedRun) -> Iterator[Path]:
    """The files that a run reads: of a folder of GLUE those of its tasks."""
    words = list(plan.words)
    tasks = words[words.index("--task") + 1].split(",") if "--task" in words else []
    splits = ("dev", "train") if plan.run.study == "finetune" else ("dev",)
    for path in (Path(word) for word in words[2:]):
        if path.is_file():
            yield path
        elif path.is_dir() and tasks and not (path / "config.json").is_file():
            yield from (file for split in splits for file in _glue_files(path, tasks, split))


def _limited(path: Path, limit: int | None) -> float:
    """About the tokens of a file, of this many examples at most."""
    examples = words = size = 0
    treebank = ".conllu" in path.name
    with opened(path) as lines:
        for line in lines:
            blank = not line.strip()
            examples += blank if treebank else not blank
            words += treebank and line[:1].isdigit()
            size += len(line)
    tokens = 1.2 * words if treebank else size / BYTES
    if ".raw" in path.name:
        examples = max(1, int(tokens / SEGMENT))
    tokens = min(tokens, examples * MOST_TOKENS)
    return tokens if limit is None else tokens * min(1.0, limit / max(1, examples))


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
            cost = RunEstimate() if run.lacks else estimate(run, config, limit)
            listed.append(RunPlan(paper, run.run.name, not run.lacks, run.lacks or " ".join(run.words), *cost))
    return listed, assumed
