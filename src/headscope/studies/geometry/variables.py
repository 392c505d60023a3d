"""The geometry of hidden states as labelled variables of a result."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.studies.geometry.alignment import alignments, own_alignments
from headscope.studies.geometry.dimensions import SHARES, largest_shares, outliers, without
from headscope.studies.geometry.hidden_pass import Hidden
from headscope.studies.geometry.samples import Occurrences
from headscope.studies.geometry.similarity import (
    GAPS,
    SEGMENTS,
    TokenScores,
    centred,
    mean_cosine,
    mean_cosine_interval,
    shared,
    token_scores,
)

ETHAYARAJH = "Ethayarajh 2019"
MICKUS = "Mickus et al. 2020, section 5"
TIMKEY = "Timkey and van Schijndel 2021, section 3"
# Squared relative error of vectors in half precision, generously.
ROUNDING = 1e-5
KORNBLITH = "Kornblith et al. 2019, section 3"


class GeometryVariables:
    """Variables by layer, each with that of the embeddings that enter the first layer beside it.

    * `seed`, `resamples`: of the bootstrap.
    """

    def __init__(self, hidden: Hidden, seed: int, resamples: int):
        self.hidden, self.seed, self.resamples = hidden, seed, resamples
        coords = {"gap": list(GAPS), "segments": SEGMENTS}
        self.variables = Variables(coords, ETHAYARAJH)
        self.spaces = hidden.tallies["norm"].mean.shape[0]

    def arrays(self, other: Hidden | None) -> dict[str, xr.DataArray]:
        """All variables; `other` has the same tokens in the hidden states of another model."""
        words, cls = self.hidden.words, self.hidden.cls
        if words is not None:
            anisotropy = self._add_anisotropy(words)
            self._add_dimensions(words)
            self._add_alignment(words, other)
            self._add_inputs(anisotropy)
            if self.hidden.repeated is not None:
                scores = token_scores(self.hidden.repeated, words, self.seed)
                self._add_tokens(scores, anisotropy)
        if cls is not None:
            self._add_cls(cls)
        return self.variables.arrays

    def add(self, name: str, values: Any, long_name: str, units: str, dims: Sequence[str] = (), **labels: Any) -> None:
        """Add `name[layer, *dims]`, and `embeddings_name[*dims]` of the embeddings, from values by space."""
        values, interval = np.asarray(values), labels.pop("interval", None)
        for prefix, part, layer in (("", slice(1, None), ("layer",)), ("embeddings_", 0, ())):
            self.variables.add(
                prefix + name,
                values[part],
                (*layer, *dims),
                long_name=f"{long_name}{', in the embeddings' if prefix else ''}",
                units=units,
                interval=None if interval is None else np.asarray(interval)[part],
                **labels,
            )

    def _units(self, rows: Occurrences) -> list[np.ndarray]:
        return [rows.units(space) for space in range(self.spaces)]

    def _mean_cosines(self, rows: Occurrences) -> tuple[np.ndarray, np.ndarray]:
        """The mean cosine of the rows and its interval, by space."""
        present, inputs = np.unique(rows.input, return_inverse=True)
        draws = poisson_draws(present.tolist(), self.seed, self.resamples)
        units = self._units(rows)
        means = np.array([mean_cosine(each) for each in units])
        return means, np.stack([mean_cosine_interval(each, inputs, draws) for each in units])

    def _add_anisotropy(self, words: Occurrences) -> np.ndarray:
        means, interval = self._mean_cosines(words)
        count = Count(len(words), "random tokens", "tokens")
        long_name = "mean cosine of two random tokens (anisotropy)"
        self.add("anisotropy", means, long_name, "cosine", interval=interval, count=count)
        return means

    def _add_inputs(self, anisotropy: np.ndarray) -> None:
        """Means over the tokens of each input, then over inputs."""
        for name, long_name, units in (
            ("intra_sentence", "mean cosine of the tokens of an input with their mean (intra-sentence)", "cosine"),
            ("norm", "length of a token's vector", "length"),
        ):
            each = self.hidden.tallies[name]
            count = Count(int(each.count), "inputs with tokens", "inputs")
            self.add(name, each.mean, long_name, units, interval=each.interval, count=count)
            if name == "intra_sentence":
                corrected = each.mean - anisotropy, each.interval - anisotropy[:, None]
                self.add(
                    f"{name}_corrected", corrected[0], f"{long_name} less anisotropy", units, interval=corrected[1]
                )

    def _add_dimensions(self, words: Occurrences) -> None:
        units, source = self._units(words), {"source": TIMKEY}
        numbers, shares = zip(*(largest_shares(each) for each in units), strict=True)
        dims = ("dimension_rank",)
        long_name = "number, from 1, of the dimension that adds most to the anisotropy"
        self.add("top_dimension", np.array(numbers) + 1, long_name, "dimension", dims, **source)
        long_name = "share of the anisotropy that this dimension adds"
        self.add("top_dimension_share", np.array(shares), long_name, "share", dims, **source)
        rest = [mean_cosine(without(each, number)) for each, number in zip(units, numbers, strict=True)]
        self.add("anisotropy_without_top", rest, f"anisotropy without its {SHARES} top dimensions", "cosine", **source)
        vectors = [words.vectors(space) for space in range(self.spaces)]
        long_name = "dimensions whose mean is more than 3 standard deviations from that of all"
        counts = [outliers(each) for each in vectors]
        self.add("outlier_dimensions", counts, long_name, "dimensions", source="Kovaleva et al. 2021, section 3")
        spread = words.norm.std(0)
        self.add("norm_std", spread, "standard deviation of the length of random tokens", "length")

    def _add_alignment(self, words: Occurrences, other: Hidden | None) -> None:
        vectors = [words.vectors(space) for space in range(self.spaces)]
        own = own_alignments(vectors)
        labels: dict[str, Any] = {"units": "alignment", "source": KORNBLITH}
        dims, long_name = ("layer", "other_layer"), "linear centred kernel alignment of two layers"
        count = Count(len(words), "random tokens", "tokens")
        self.variables.add("alignment", own[1:, 1:], dims, long_name=long_name, count=count, **labels)
        long_name = "linear centred kernel alignment of a layer with the embeddings"
        self.variables.add("embeddings_alignment", own[1:, 0], ("layer",), long_name=long_name, **labels)
        if other is not None and other.words is not None:
            others = [other.words.vectors(space) for space in range(1, other.words.norm.shape[1])]
            long_name = "linear centred kernel alignment of a layer with a layer of the other model"
            between = alignments(vectors[1:], others)
            self.variables.add("model_alignment", between, dims, long_name=long_name, **labels)

    def _tally(self, values: np.ndarray, cases: np.ndarray) -> Tally:
        draws = poisson_draws(range(len(values)), self.seed, self.resamples)
        return tally(values, cases, draws)

    def _add_tokens(self, scores: TokenScores, anisotropy: np.ndarray) -> None:
        """Scores of tokens; intervals are over tokens of the vocabulary."""
        number = len(scores.self_similarity)
        if not number:
            return
        once = np.ones(number, dtype=bool)
        count = Count(number, "tokens of the vocabulary with 5 occurrences or more", "tokens")
        similarity = self._tally(scores.self_similarity, once)
        long_name = "mean cosine of the occurrences of a token (self-similarity)"
        self.add("self_similarity", similarity.mean, long_name, "cosine", interval=similarity.interval, count=count)
        corrected = similarity.mean - anisotropy, similarity.interval - anisotropy[:, None]
        long_name = f"{long_name} less anisotropy"
        self.add("self_similarity_corrected", corrected[0], long_name, "cosine", interval=corrected[1])
        variance, long_name = self._tally(scores.explained, once), "maximum explainable variance of a token"
        self.add("explained_variance", variance.mean, long_name, "share", interval=variance.interval, count=count)
        gain = self._tally(scores.explained - scores.chance, once)
        long_name = f"{long_name} less that of as many random tokens"
        self.add("explained_variance_corrected", gain.mean, long_name, "share", interval=gain.interval)
        self._add_pairs("position", "gap", scores.gaps, scores.gap_pairs)
        if scores.segment_pairs.any(0).all():
            self._add_pairs("segment", "segments", scores.segments, scores.segment_pairs)

    def _add_pairs(self, name: str, dim: str, values: np.ndarray, pairs: np.ndarray) -> None:
        means = self._tally(values, pairs)
        what = {"gap": "by the difference of their positions", "segments": "in the same segment, and in different ones"}
        long_name = f"mean cosine of two occurrences of a token, {what[dim]}"
        count = Count(means.count, "pairs of occurrences", "pairs", (dim,))
        labels = {"interval": means.interval, "count": count, "source": MICKUS}
        self.add(f"{name}_similarity", means.mean, long_name, "cosine", (dim,), **labels)

    def _add_cls(self, cls: Occurrences) -> None:
        """Scores of [CLS] by layer; in the embeddings it is the same everywhere.

        Where all [CLS] are the same but for the rounding of half precision, there is no similarity without their mean.
        """
        means, interval = self._mean_cosines(cls)
        count = Count(len(cls), "inputs with [CLS]", "inputs")
        long_name = "mean cosine of the [CLS] of two inputs"
        labels = {"units": "cosine", "interval": interval[1:], "count": count}
        self.variables.add("cls_similarity", means[1:], ("layer",), long_name=long_name, **labels)
        vectors = [cls.vectors(space) for space in range(1, self.spaces)]
        common = [shared(each) for each in vectors]
        after = [
            mean_cosine(centred(each)) if share < 1 - ROUNDING else np.nan
            for each, share in zip(vectors, common, strict=True)
        ]
        long_name = f"{long_name}, less the mean [CLS]"
        self.variables.add("cls_similarity_centred", after, ("layer",), long_name=long_name, units="cosine")
        long_name = "share of the squared length of [CLS] that is the mean [CLS]"
        self.variables.add("cls_shared", common, ("layer",), long_name=long_name, units="share")


def to_variables(hidden: Hidden, other: Hidden | None, seed: int, resamples: int) -> Mapping[str, xr.DataArray]:
    """The variables of a result; see `GeometryVariables`."""
    return GeometryVariables(hidden, seed, resamples).arrays(other)
