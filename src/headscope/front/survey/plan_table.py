"""The plan of a survey as rows: what would run, what it reads and about how long it takes, and what is left out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headscope.front.survey.costs import StudyEstimate, estimates, shape_of
from headscope.front.survey.plan import PlannedStudy, facts_of, planned

if TYPE_CHECKING:
    import pandas as pd


def survey_plan(
    model: Any, *corpora: Any, only: Sequence[str] = (), without: Sequence[str] = (), full: bool = False
) -> "pd.DataFrame":
    """What `headscope.survey` would run with the same arguments: a row for each study. Nothing runs.

    * `model`: What `headscope.load` returns, a name, or a folder; it is not loaded for this.
    * `corpora`: Whatever `headscope.read` reads; by default the bundled sample.
    * `only`: Studies to run; by default all that can run. `without`: Studies to leave out.
    * `full`: Take all examples also where a study takes some (`probe`, `structure`, `attributions`), and longer texts
      in `induction`.

    The columns: `study`, `runs`, `reads` (the corpora; or what the study needs), `seconds` on one core and `mib` of
    memory, both an estimate, missing for a study that is left out. A first row `one pass` is the reading that studies
    share.

    Raises `HeadscopeError` for a study that is unknown.

    >>> import headscope
    >>> plan = headscope.survey_plan("minilm", headscope.read("sample", limit=30), only=["profile", "syntax"])
    >>> plan[plan.runs].study.tolist()
    ['one pass', 'profile', 'syntax']
    """
    import pandas as pd  # the command shows the same rows without it

    from headscope import corpora as readers

    read = [readers.read(corpus) for corpus in corpora or ("sample",)]
    facts = [facts_of(corpus.name, corpus, len(corpus)) for corpus in read]
    plans = planned(facts, task=False, only=only, without=without)
    expected = estimates(plans, shape_of(_config(model)), full=full)
    return pd.DataFrame(rows(plans, expected, examples_of(plans)))


def rows(plans: Sequence[PlannedStudy], expected: Sequence[StudyEstimate], examples: int) -> list[dict[str, Any]]:
    """The shared reading, then the studies of a plan; those that have no estimate have no `seconds`."""
    studies = {plan.study for plan in plans}
    shared = [
        _row(estimate.study, estimate, examples, "for all studies that can share it")
        for estimate in expected
        if estimate.study not in studies
    ]
    by_study = {estimate.study: estimate for estimate in expected}
    return shared + [_row(plan.study, by_study.get(plan.study), examples, plan.reads) for plan in plans]


def examples_of(plans: Sequence[PlannedStudy]) -> int:
    """The number of examples of the largest corpus of a plan."""
    return max([corpus.n_examples for plan in plans for corpus in plan.corpora], default=1)


def _row(study: str, cost: StudyEstimate | None, examples: int, reads: str) -> dict[str, Any]:
    row: dict[str, Any] = {"study": study, "runs": cost is not None, "reads": reads}
    if cost is None:
        return row
    if cost.sample and cost.most < examples:
        row["reads"] += f"; {cost.sample}"
    return row | {"seconds": round(cost.of(examples)), "mib": cost.memory}


def _config(model: Any) -> Mapping[str, Any]:
    """The configuration of a loaded model, or of one that is not loaded for this."""
    from headscope.models import Model
    from headscope.models.checkpoint import locate

    return model.network.config.to_dict() if isinstance(model, Model) else locate(model).config
