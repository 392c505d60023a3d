"""What a survey runs, and what it leaves out: decided from the data, before a model is loaded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headscope import catalog
from headscope.errors import HeadscopeError, suggest

# What a study needs of the data, in the order in which studies run: the quick ones first.
NEEDS: Mapping[str, str] = {
    "profile": "text",
    "patterns": "text",
    "syntax": "trees",
    "relations": "links",
    "coreference": "mentions",
    "clusters": "text",
    "induction": "text",
    "geometry": "text",
    "gradients": "text",
    "trees": "trees",
    "layers": "trees",
    "structure": "trees",
    "probe": "trees",
    "attributions": "text",
    "ablate": "task",
    "prune": "task",
}
LACKING: Mapping[str, str] = {
    "trees": "a treebank (CoNLL-U), or --annotate",
    "links": "a treebank, FrameNet, or links of your own (--kind links)",
    "mentions": "a corpus with mentions of entities (CoNLL-U with Entity, CoNLL-2012, GAP)",
    "task": "a task and a model that was fine-tuned on it: --task NAME --data FOLDER",
}
# Why a survey of one model does not run the others.
ELSEWHERE: Mapping[str, str] = {
    "cloze": "suites of sentences: headscope cloze MODEL SUITE --data FOLDER",
    "compare": "a second model: headscope compare MODEL OTHER --corpus CORPUS",
    "film": "the steps of a training: headscope film DIR --corpus CORPUS",
    "finetune": "training: headscope finetune MODEL --task NAME --data FOLDER",
    "landscape": "a trained model: headscope landscape MODEL --tuned TRAINED --task NAME --data FOLDER",
    "lens": "a head for words, which pretrain-head trains: headscope lens MODEL TEXT",
    "pretrain_head": "training: headscope pretrain-head MODEL TEXT",
    "shrink": "training: headscope shrink MODEL TEXT",
}
# Examples whose words are counted; tokens of a word, and special tokens of an example.
FIRST, PIECES, SPECIAL = 200, 1.35, 2
MANY = ("patterns", "layers")  # studies that read several corpora at once
# Options of studies in a survey. Clusters has the batches of other studies, so that it can share their pass.
OWN: Mapping[str, tuple[str, ...]] = {"prune": ("--tolerance", "0.02"), "clusters": ("--batch-tokens", "2048")}


@dataclass(frozen=True)
class CorpusFacts:
    """A corpus: its name on the command line, its number of examples, and what a study can need of it.

    * `tokens`: about so many, by the words of the first examples.
    """

    source: str
    n_examples: int
    features: frozenset[str]
    tokens: int = 0


@dataclass(frozen=True)
class PlannedStudy:
    """A study, the corpora that it reads, or what it lacks.

    * `corpora`: none for a task; `lacks`: empty if it runs.
    """

    study: str
    corpora: tuple[CorpusFacts, ...] = ()
    lacks: str = ""

    @property
    def reads(self) -> str:
        """What it reads, in words; what it would need."""
        names = ", ".join(
            f"{corpus.source} ({corpus.n_examples:,} {_examples(corpus.n_examples)})" for corpus in self.corpora
        )
        return f"needs {self.lacks}" if self.lacks else names or "the task"


def _examples(number: int) -> str:
    return "example" if number == 1 else "examples"


def facts_of(source: str, corpus: Iterable[Any], n_examples: int) -> CorpusFacts:
    """What a corpus has: `text`, and `trees`, `links` and `mentions` if any sentence has some."""
    features, words, read = {"text"}, 0, 0
    for read, example in enumerate(corpus, 1):
        words += sum(len(sentence.text.split()) for sentence in example.sentences) if read <= FIRST else 0
        for sentence in example.sentences:
            features |= {"trees", "links"} if sentence.heads else set()
            features |= {"links"} if sentence.links else set()
            features |= {"mentions"} if sentence.mentions or sentence.question else set()
        if read >= FIRST and len(features) == len(set(NEEDS.values()) - {"task"}):
            break
    tokens = n_examples * (PIECES * words / max(1, min(read, FIRST)) + SPECIAL)
    return CorpusFacts(source, n_examples, frozenset(features), round(tokens))


def planned(
    corpora: Sequence[CorpusFacts], *, task: bool, only: Sequence[str] = (), without: Sequence[str] = ()
) -> list[PlannedStudy]:
    """The studies in the order in which they run, then those that are left out.

    Of several corpora the first that has what a study needs is read.

    Raises `HeadscopeError` for a study that does not exist, or that a survey does not run.

    >>> corpus = CorpusFacts("texts.txt", 3, frozenset({"text"}))
    >>> [plan.study for plan in planned([corpus], task=False) if not plan.lacks][:2]
    ['profile', 'patterns']
    """
    studies = catalog.names("studies")
    for name in (*only, *without):
        if name.replace("-", "_") not in studies:
            raise HeadscopeError(f"study '{name}' is unknown; {suggest(name, studies)}")
    chosen = [name.replace("-", "_") for name in only] or list(NEEDS)
    left = {name.replace("-", "_") for name in without}
    plans = [_planned(study, corpora, task) for study in NEEDS if study in chosen and study not in left]
    others = [PlannedStudy(study, lacks=reason) for study, reason in ELSEWHERE.items()]
    return [*[plan for plan in plans if not plan.lacks], *[plan for plan in plans if plan.lacks], *others]


def _planned(study: str, corpora: Sequence[CorpusFacts], task: bool) -> PlannedStudy:
    need = NEEDS[study]
    if need == "task":
        return PlannedStudy(study, lacks="" if task else LACKING["task"])
    fitting = tuple(corpus for corpus in corpora if need in corpus.features)
    if not fitting:
        return PlannedStudy(study, lacks=LACKING[need])
    return PlannedStudy(study, fitting if study in MANY else fitting[:1])


def words_of(plan: PlannedStudy, model: str, given: Sequence[str], task: Sequence[str], out: str) -> list[str]:
    """The words of the command that a study of a plan is.

    * `given`: options of all studies; `task`: those of the task.

    >>> words_of(PlannedStudy("prune"), "m", ["--seed", "1"], ["--task", "t"], "o")
    ['prune', 'm', '--task', 't', '--tolerance', '0.02', '--seed', '1', '-o', 'o/prune']
    """
    name = catalog.command_name(plan.study)
    read = [corpus.source for corpus in plan.corpora] or task
    return [name, model, *read, *OWN.get(plan.study, ()), *given, "-o", f"{out}/{name}"]
