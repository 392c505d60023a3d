"""A model that is used for the embeddings of texts: it is judged by their similarities, without labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.sentence_modules import SentenceModules
from headscope.outputs.outputs import in_order
from headscope.passes.batches import collator
from headscope.passes.settings import Settings
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.rank_correlation import spearman
from headscope.studies.size.shrink.answers import SHOWN, Rows, quiet, text_of
from headscope.studies.size.shrink.scores import Outputs, Scores, of_similarities, pairs

# A text's similarities to so many others are ranked; pairs are shown whose cosine moved by so much.
MOST_OTHERS, MOVED = 500, 0.01


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of length 1.

    * `modules`: what makes an embedding of the states of a text.
    * `unit`: of what an input may lose; `tolerance`: what the main score may lose, unless it is given.
    """

    modules: SentenceModules
    task: None = None
    classes: bool = False
    unit: str = "rank correlation"
    tolerance: float = 0.1

    def answering(self, model: Model) -> Model:
        """The model without a head, such as one for masked words."""
        return replace(model, network=model.network.base_model)

    def of(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The embeddings of inputs that are numbered from 0."""
        base: Any = self.answering(model).network
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            return self.from_first(base(**batch.inputs)[0], batch.real).cpu().numpy()

        return in_order(base, inputs, outputs, quiet(settings))

    def learned(self, output: Any, real: Tensor) -> Tensor:
        """The embeddings by what a network in training returns, its hidden states with it."""
        return self.from_first(output.hidden_states[-1], real)

    def from_first(
        self, output: Float[Tensor, "example token width"], real: Bool[Tensor, "example token"]
    ) -> Float[Tensor, "example width"]:
        """Embeddings from the last states, in float32 at least."""
        return normalize(self.modules(output, real), dim=-1)

    def scores(self, outputs: Sequence[Outputs], units: Sequence[int], settings: Settings) -> Scores:
        """See `scores.of_similarities`."""
        return of_similarities(outputs, units, settings.seed, settings.resamples)

    def gains(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings
    ) -> Float[np.ndarray, "model 3"]:
        """The changes of the agreement by each model, with their intervals."""
        return np.column_stack([scores.changes[:, 0], scores.change_bounds[:, 0]])

    def last_gain(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings
    ) -> Float[np.ndarray, " 3"]:
        """The difference of both agreements, paired in each resample; two texts have no interval."""
        drawn = scores.drawn[:, -1, 0] - scores.drawn[:, -2, 0]
        many = len(scores.units) > 2
        bounds = interval(drawn, equal_units(scores.units)) if many else np.full(2, np.nan)
        return np.append(scores.values[-1, 0] - scores.values[-2, 0], bounds)

    def losses(self, before: Outputs, after: Outputs, seed: int) -> Float[np.ndarray, " text"]:
        """What the rank correlation of each text's similarities to other texts lacks to 1; NaN for fewer than three."""
        number = len(before)
        others = np.sort(np.random.default_rng(seed).permutation(number)[: MOST_OTHERS + 1])
        agreements = np.full(number, np.nan)
        for text in range(number if number > 2 else 0):
            beside = others[others != text][:MOST_OTHERS]
            agreements[text] = spearman(*(outputs[beside] @ outputs[text] for outputs in (before, after)))
        return 1 - agreements

    def changed(self, examples: Sequence[Example], before: Outputs, after: Outputs, seed: int) -> Rows:
        """Pairs of texts by how far their similarity moved; each text is in one pair."""
        first, second = pairs(len(examples), seed)
        then, now = ((outputs[first] * outputs[second]).sum(-1) for outputs in (before, after))
        rows, seen = Rows(), set[int]()
        for pair in np.argsort(-abs(now - then), kind="stable").tolist():
            both = int(first[pair]), int(second[pair])
            if len(rows) == SHOWN or abs(now[pair] - then[pair]) < MOVED:
                break
            if not seen.intersection(both):
                seen.update(both)
                texts = dict(zip(("text", "other"), (text_of(examples[at]) for at in both), strict=True))
                rows.append(texts | {"before": float(then[pair]), "after": float(now[pair])})
        return rows
