"""What a survey runs, and what it leaves out: decided from the data, before a model is loaded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headscope import catalog
from headscope.errors import HeadscopeError, suggest
from headscope.front.signatures import names
from headscope.study import InSurvey

# What a study can need of the data, and what that is.
LACKING: Mapping[str, str] = {
    "text": "a text",
    "treebank": "a treebank (CoNLL-U), or --annotate",
    "links": "a treebank, FrameNet, or links of your own (--kind links)",
    "mentions": "a corpus with mentions of entities (CoNLL-U with Entity, CoNLL-2012, GAP)",
    "task": "a task and a model that was fine-tuned on it: --task NAME --data FOLDER",
}
# Examples whose words are counted; tokens of a word, and special tokens of an example.
FIRST, PIECES, SPECIAL = 200, 1.35, 2


@dataclass(frozen=True)
class CorpusFacts:
    """A corpus: its name, its number of examples and about that of its tokens, and what a study can need of it."""

    source: str
    n_examples: int
    features: frozenset[str]
    tokens: int = 0


@dataclass(frozen=True)
class PlannedStudy:
    """A study, the corpora that it reads, or what it lacks; `corpora`: none for a task; `lacks`: empty if it runs."""

    study: str
    corpora: tuple[CorpusFacts, ...] = ()
    lacks: str = ""

    @property
    def reads(self) -> str:
        """What it reads, in words; what it would need."""
        read = [(corpus.source, corpus.n_examples) for corpus in self.corpora]
        names = ", ".join(f"{source} ({number:,} example{'s' * (number != 1)})" for source, number in read)
        return f"needs {self.lacks}" if self.lacks else names or "the task"


def facts_of(source: str, corpus: Iterable[Any], n_examples: int) -> CorpusFacts:
    """What a corpus has: `text`, and `treebank`, `links` and `mentions` if any sentence has some."""
    kinds, words, read = {"text"}, 0, 0
    for read, example in enumerate(corpus, 1):
        words += sum(len(sentence.text.split()) for sentence in example.sentences) if read <= FIRST else 0
        for sentence in example.sentences:
            kinds |= {"treebank", "links"} if sentence.heads else set()
            kinds |= {"links"} if sentence.links else set()
            kinds |= {"mentions"} if sentence.mentions or sentence.question else set()
        if read >= FIRST and len(kinds) == len(LACKING.keys() - {"task"}):
            break
    tokens = n_examples * (PIECES * words / max(1, min(read, FIRST)) + SPECIAL)
    return CorpusFacts(source, n_examples, frozenset(kinds), round(tokens))


def planned(
    corpora: Sequence[CorpusFacts], *, task: bool, only: Sequence[str] = (), without: Sequence[str] = ()
) -> list[PlannedStudy]:
    """The studies in the order in which they run, then those that are left out.

    Of several corpora the first that has what a study needs is read.

    Raises `HeadscopeError` for a study that does not exist, or that a survey does not run.

    >>> corpus = CorpusFacts("texts.txt", 3, frozenset({"text"}))
    >>> [one.study for one in planned([corpus], task=False) if not one.lacks][:2]
    ['profile', 'clusters']
    """
    surveys = {name: catalog.study(name).survey for name in catalog.names("studies")}
    for name in (*only, *without):
        if name.replace("-", "_") not in surveys:
            raise HeadscopeError(f"study '{name}' is unknown; {suggest(name, surveys)}")
    runs = {name: survey for name, survey in surveys.items() if isinstance(survey, InSurvey)}
    chosen = [name.replace("-", "_") for name in only] or runs
    left = {name.replace("-", "_") for name in without}
    wanted = [name for name in runs if name in chosen and name not in left]
    plans = [
        _planned(name, runs[name], corpora, task) for name in sorted(wanted, key=lambda name: runs[name].cost.seconds)
    ]
    others = [PlannedStudy(name, lacks=survey) for name, survey in surveys.items() if isinstance(survey, str)]
    return [*[plan for plan in plans if not plan.lacks], *[plan for plan in plans if plan.lacks], *others]


def in_survey(study: str) -> InSurvey:
    """How a study declares that a survey runs it."""
    survey = catalog.study(study).survey
    if isinstance(survey, str):
        raise HeadscopeError(f"a survey does not run '{study}', which needs {survey}")
    return survey


def shares(study: str) -> bool:
    """Whether a study declares its first pass, which others may share.

    >>> [shares(plan.study) for plan in planned([], task=True) if not plan.lacks]
    [False, False]
    """
    return "first_pass" in names(study, "study")


def _planned(study: str, survey: InSurvey, corpora: Sequence[CorpusFacts], task: bool) -> PlannedStudy:
    fitting = tuple(corpus for corpus in corpora if survey.needs in corpus.features)
    if not (task if survey.needs == "task" else fitting):
        return PlannedStudy(study, lacks=LACKING[survey.needs])
    return PlannedStudy(study, fitting if survey.several else fitting[:1])


def words_of(plan: PlannedStudy, model: str, options: Sequence[str], task: Sequence[str], out: str) -> list[str]:
    """The command line of a planned study: options of the survey, then those of its task.

    >>> plan = planned([CorpusFacts("texts.txt", 3, frozenset({"text"}))], task=False)[0]
    >>> words_of(plan, "m", ["--seed", "1"], [], "o")
    ['profile', 'm', 'texts.txt', '--seed', '1', '-o', 'o/profile']
    """
    name = catalog.command_name(plan.study)
    sources = [corpus.source for corpus in plan.corpora] or task
    return [name, model, *sources, *in_survey(plan.study).options, *options, "-o", f"{out}/{name}"]
