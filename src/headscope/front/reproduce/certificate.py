"""All reproductions of a model in one go, and a document of what its results say of every claim."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headscope.corpora.parsing.lines import opened
from headscope.corpora.readers.glue import FILES, glue_name
from headscope.errors import HeadscopeError, plain_name
from headscope.front.reproduce.plan import PlannedRun, planned
from headscope.front.survey.costs import BATCH, BUILT_IN, LIBRARIES, shape_of
from headscope.front.survey.plan import in_survey
from headscope.papers import judge, read_papers, words
from headscope.papers.reproduction import JOIN, papers, read_reproduction
from headscope.report.cards.model_results import MeasuredModel, Source, read_all
from headscope.storage.files import write_atomically
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
FILE = "certificate.md"


@dataclass(frozen=True)
class RunEstimate:
    """Seconds on one core, and MiB of memory and of files that stay."""

    seconds: float
    memory: int
    disk: int


def config_of(model: str) -> tuple[Mapping[str, Any], bool]:
    """The configuration of a model, and whether it is that of BERT-base since the model's own is not here."""
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
    weights = (shape.weights + int(config.get("vocab_size") or 0) * shape.width) * 4 / 2**20
    most = min((int(number) for number in (options.get("limit"), limit) if number is not None), default=None)
    sizes = [_limited(path, most) for path in _files(plan)]
    tokens = sum(sizes) / 1000
    passes = cost.passes * (heads if study in ("ablate", "prune") else 1)
    seconds = tokens * (passes * (FORWARD * shape.size + cost.own * heads) + cost.after * heads) + cost.fixed
    trainings, models = _trainings(plan)
    seconds += trainings * tokens * EPOCHS * STEP * FORWARD * shape.size
    memory = LIBRARIES + BATCH * heads + weights * (4 if trainings else 2 if study == "compare" else 1)
    return RunEstimate(seconds, round(memory), round(models * weights))


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
            names = {plain_name(str(glue_name(task))) for task in tasks}
            folders = [folder for folder in path.iterdir() if plain_name(folder.name) in names]
            packed = [f"{name}{end}" for split in splits for name in FILES[split] for end in ("", ".gz")]
            yield from (folder / name for folder in folders for name in packed if (folder / name).is_file())


def _limited(path: Path, limit: int | None) -> float:
    """About the tokens of a file, of so many examples at most."""
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
            cost = None if run.lacks else estimate(run, config, limit)
            numbers = (cost.seconds, cost.memory, cost.disk) if cost else (0.0, 0, 0)
            listed.append(RunPlan(paper, run.run.name, not run.lacks, run.lacks or " ".join(run.words), *numbers))
    return listed, assumed


def document(model: str, folders: Iterable[Path]) -> str:
    """The verdict on every claim, the published figure with how sure it is, and the command where none is measured."""
    sources = tuple(Source(path, result) for path, result in read_all(list(folders)).items())
    judged = judge(MeasuredModel((model,), model, sources), read_papers())
    return f"# What the papers claim, of {model}\n\n{words.markdown(judged)}"


def write_document(out: Path, model: str) -> Path:
    """Write `out/certificate.md`; return its path."""
    return write_atomically(out / FILE, document(model, [out]) + "\n")
