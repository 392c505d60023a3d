"""How much each head matters: by the gradient of the loss, by disabling it, or as a saved result says."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from headscope import results
from headscope.ablation.sweep import sweep
from headscope.corpora import Corpus
from headscope.engine.gradient_importance import importance
from headscope.engine.importance_estimators import ESTIMATORS
from headscope.engine.settings import Settings
from headscope.engine.task_inputs import asked
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.studies.prune.removal import Pruned
from headscope.tasks import LOWER_IS_BETTER, Task, score

By = Literal["importance", "sweep"]
Importance = Float[np.ndarray, "layer head"]


@dataclass
class Ranking:
    """What says how much a head matters: an estimator of importance, or the score that is lost without the head.

    * `again`: it is asked anew whenever heads are gone; else `known` is what it has said first.

    Raises `HeadscopeError` if it is unknown.
    """

    by: By
    estimator: str
    again: bool = False
    known: Importance | None = None

    def __post_init__(self) -> None:
        for name, known in {"by": get_args(By), "estimator": ESTIMATORS}.items():
            if getattr(self, name) not in known:
                raise HeadscopeError(f"{name} '{getattr(self, name)}' is unknown; use one of {', '.join(known)}")

    def of(self, pruned: Pruned, task: Task, settings: Settings) -> Importance:
        """How much each head that is left matters to a task, on its train split, or on dev where there is none."""
        if self.known is None or (self.again and pruned.gone):
            settings = replace(settings, on_total=lambda total: None)
            measure = self._importance if self.by == "importance" else self._sweep
            self.known = pruned.as_it_was(measure(pruned, task, task.train or task.dev, settings))
        return self.known

    def work(self, heads: tuple[int, ...]) -> int:
        """How often it goes through the examples."""
        return 1 if self.by == "importance" else sum(heads) + len(heads)

    def _importance(self, pruned: Pruned, task: Task, corpus: Corpus, settings: Settings) -> Importance:
        found = importance(pruned.model, task, corpus, settings)["importance"]
        return found.sel(estimator=self.estimator).values

    def _sweep(self, pruned: Pruned, task: Task, corpus: Corpus, settings: Settings) -> Importance:
        """By how much the score is worse without each head."""
        questions, targets = asked(pruned.model, task, corpus, settings.seed), task.targets(corpus)
        metric = task.metrics[0]
        found = sweep(questions, settings, mode="zero")
        there = existing(pruned.model.capture.heads)
        lost = np.full(there.shape, np.nan)
        lost[there] = score(metric, found.plain, targets) - score(metric, found.heads[there], targets)
        return -lost if metric in LOWER_IS_BETTER else lost

    def read(self, source: Path, model: Model, task: Task) -> None:
        """Learn it from a folder that the study `ablate` wrote for this model.

        Raises `HeadscopeError` if there is none, or if it is of another model or lacks what is asked for.
        """
        result = results.read(source)
        if result.attrs["model_sha256"] != model.sha256:
            raise HeadscopeError(
                f"result '{source}' is of model '{result.attrs['model']}', whose weights are not those of "
                f"'{model.name}'; name a result of this model"
            )
        metric = task.metrics[0]
        try:
            if self.by == "importance":
                found = result["importance"].sel(estimator=self.estimator)
            else:
                found = (result["baseline"] - result["head_score"]).sel(metric=metric)
        except KeyError as error:
            what = f"importance '{self.estimator}'" if self.by == "importance" else f"head_score of {metric}"
            raise HeadscopeError(f"result '{source}' has no {what}; leave --from out, or change --by") from error
        lower = self.by == "sweep" and metric in LOWER_IS_BETTER
        self.known = found.transpose("layer", "head").values * (-1 if lower else 1)
