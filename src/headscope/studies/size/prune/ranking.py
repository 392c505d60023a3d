"""Importance of each head: from gradients, from disabling it, or from a saved result."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from headscope import results
from headscope.ablation.sweep import sweep
from headscope.corpora import Corpus
from headscope.corpora.tasks import LOWER_IS_BETTER, Task, score
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.outputs.gradient_importance import importance
from headscope.outputs.importance_estimators import ESTIMATORS
from headscope.outputs.task_inputs import task_inputs
from headscope.passes.settings import Settings
from headscope.studies.size.prune.removal import PrunedModel

By = Literal["importance", "sweep"]
Importance = Float[np.ndarray, "layer head"]


@dataclass
class HeadRanking:
    """The ranking of heads for removal.

    * `by`: "importance" (gradients, by the `estimator`), or "sweep" (the loss of score without the head).
    * `again`: recompute importance after each step.
    * `latest`: the importance computed last, or read from a result.

    Raises `HeadscopeError` for an unknown `by` or `estimator`.
    """

    by: By
    estimator: str
    again: bool = False
    latest: Importance | None = None

    def __post_init__(self) -> None:
        for name, names in {"by": get_args(By), "estimator": ESTIMATORS}.items():
            if getattr(self, name) not in names:
                raise HeadscopeError(f"{name} '{getattr(self, name)}' is unknown; use one of {', '.join(names)}")

    def of(self, pruned: PrunedModel, task: Task, settings: Settings) -> Importance:
        """Importance of the remaining heads on the train split of a task, or on dev if it has none."""
        if self.latest is None or (self.again and pruned.gone):
            settings = replace(settings, on_total=lambda total: None)
            measure = self._importance if self.by == "importance" else self._sweep
            self.latest = pruned.at_original_places(measure(pruned, task, task.train or task.dev, settings))
        return self.latest

    def work(self, heads: tuple[int, ...]) -> int:
        """Passes over the examples for one ranking of a model with these heads."""
        return 1 if self.by == "importance" else 1 + sum(heads) + len(heads)

    def _importance(self, pruned: PrunedModel, task: Task, corpus: Corpus, settings: Settings) -> Importance:
        estimates = importance(pruned.model, task, corpus, settings, pruned.shared)["importance"]
        return estimates.sel(estimator=self.estimator).values

    def _sweep(self, pruned: PrunedModel, task: Task, corpus: Corpus, settings: Settings) -> Importance:
        """Decrease of the score without each head."""
        inputs, targets = task_inputs(pruned.model, task, corpus, settings.seed), task.targets(corpus)
        metric = task.metrics[0]
        swept = sweep(inputs, settings, mode="zero", together=pruned.shared).mapped(inputs.by_example)
        there = existing(pruned.model.capture.heads)
        lost = np.full(there.shape, np.nan)
        lost[there] = score(metric, swept.plain, targets) - score(metric, swept.heads[there], targets)
        return -lost if metric in LOWER_IS_BETTER else lost

    def read(self, source: Path, model: Model, task: Task, shared: int = 1) -> None:
        """Read the importance from a result of the study `ablate` on this model.

        * `shared`: how many query heads share a KV head, where these are removed; else 1.

        Raises `HeadscopeError` if there is no result, or it is of another model or unit, or lacks this importance.
        """
        result = results.read(source)
        if result.attrs["model_sha256"] != model.sha256:
            raise HeadscopeError(
                f"result '{source}' is of model '{result.attrs['model']}', whose weights are not those of "
                f"'{model.name}'; name a result of this model"
            )
        if shared > 1 and result.attrs.get("unit") != "kv":
            raise HeadscopeError(
                f"result '{source}' is of single heads; run 'headscope ablate' with --unit kv, or leave --from out"
            )
        metric = task.metrics[0]
        try:
            if self.by == "importance":
                values = result["importance"].sel(estimator=self.estimator)
            else:
                values = (result["baseline"] - result["head_score"]).sel(metric=metric)
        except KeyError as error:
            what = f"importance '{self.estimator}'" if self.by == "importance" else f"head_score of {metric}"
            raise HeadscopeError(f"result '{source}' has no {what}; leave --from out, or change --by") from error
        lower = self.by == "sweep" and metric in LOWER_IS_BETTER
        self.latest = values.transpose("layer", "head").values[:, ::shared] * (-1 if lower else 1)
