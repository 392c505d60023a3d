"""The geometry of hidden states as labelled variables of a result."""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.statistics.intervals import Score
from headscope.studies.layers.geometry import STUDY, similarity
from headscope.studies.layers.geometry.hidden_pass import Hidden
from headscope.studies.layers.geometry.mean_cosine import mean_cosine_between, mean_cosine_score
from headscope.studies.layers.geometry.samples import Occurrences

# Squared relative error of vectors in half precision, generously.
ROUNDING = 1e-5


class GeometryVariables:
    """Variables by layer, each with that of the embeddings that enter the first layer beside it.

    * `seed`, `resamples`: of the bootstrap.
    """

    def __init__(self, hidden: Hidden, seed: int, resamples: int):
        self.hidden, self.seed, self.resamples = hidden, seed, resamples
        coords = {"gap": list(similarity.GAPS), "segments": similarity.SEGMENTS}
        self.variables = Variables(coords, STUDY.source, STUDY.labels)
        self.spaces = hidden.tallies["norm"].mean.shape[0]

    def arrays(self, other: Hidden | None) -> dict[str, xr.DataArray]:
        """All variables; `other` has the same tokens in the hidden states of another model."""
        words, cls = self.hidden.words, self.hidden.cls
        if words is not None:
            anisotropy = self._add_anisotropy(words)
            self._add_dimensions(words)
            self._add_alignment(words, other)
            self._add_inputs(anisotropy.mean)
            if self.hidden.repeated is not None:
                scores = similarity.token_scores(self.hidden.repeated, words, self.seed)
                self._add_self_similarity(self.hidden.repeated, scores, anisotropy)
                self._add_tokens(scores)
        if cls is not None:
            self._add_cls(cls)
        return self.variables.arrays

    def add(self, name: str, values: Any, interval: Any = None, count: Count | None = None) -> None:
        """Add `name[layer, *dims]`, and `embeddings_name[*dims]` of the embeddings, from values by space."""
        values = np.asarray(values)
        for prefix, part in (("", slice(1, None)), ("embeddings_", 0)):
            bounds = None if interval is None else np.asarray(interval)[part]
            self.variables.add(prefix + name, values[part], interval=bounds, count=count)

    def _units(self, rows: Occurrences) -> list[np.ndarray]:
        return [rows.units(space) for space in range(self.spaces)]

    def _mean_cosines(self, rows: Occurrences) -> Score:
        """The mean cosine of the rows by space."""
        present, documents = np.unique(rows.document, return_inverse=True)
        draws = poisson_draws(present.tolist(), self.seed, self.resamples)
        return mean_cosine_score(self._units(rows), documents, draws)

    def _add_anisotropy(self, words: Occurrences) -> Score:
        cosines = self._mean_cosines(words)
        self.add("anisotropy", cosines.mean, cosines.interval, Count(cosines.count, "random tokens", "tokens"))
        return cosines

    def _add_inputs(self, anisotropy: np.ndarray) -> None:
        """Means over the tokens of each input, then over inputs."""
        for name in ("intra_sentence", "norm"):
            means = self.hidden.tallies[name]
            self.add(name, means.mean, means.interval, Count(int(means.count), "inputs with tokens", "inputs"))
            if name == "intra_sentence":
                self.add(f"{name}_corrected", means.mean - anisotropy, means.interval - anisotropy[:, None])

    def _add_dimensions(self, words: Occurrences) -> None:
        units = self._units(words)
        numbers, shares = zip(*(similarity.largest_shares(space) for space in units), strict=True)
        self.add("top_dimension", np.array(numbers) + 1)
        self.add("top_dimension_share", np.array(shares))
        documents = np.unique(words.document, return_inverse=True)[1]
        rest = [
            mean_cosine_between(similarity.without(space, number), documents)
            for space, number in zip(units, numbers, strict=True)
        ]
        self.add("anisotropy_without_top", rest)
        self.add("outlier_dimensions", [similarity.outliers(words.vectors(space)) for space in range(self.spaces)])
        self.add("norm_std", words.norm.std(0))

    def _add_alignment(self, words: Occurrences, other: Hidden | None) -> None:
        vectors = [words.vectors(space) for space in range(self.spaces)]
        alignment = similarity.own_alignments(vectors)
        count = Count(len(words), "random tokens", "tokens")
        self.variables.add("alignment", alignment[1:, 1:], count=count)
        self.variables.add("embeddings_alignment", alignment[1:, 0])
        if other is not None and other.words is not None:
            others = [other.words.vectors(space) for space in range(1, other.words.norm.shape[1])]
            self.variables.add("model_alignment", similarity.alignments(vectors[1:], others))

    def _tally(self, values: np.ndarray, cases: np.ndarray) -> Tally:
        draws = poisson_draws(range(len(values)), self.seed, self.resamples)
        return tally(values, cases, draws)

    def _add_self_similarity(self, repeated: Occurrences, scores: similarity.TokenScores, anisotropy: Score) -> None:
        """Over tokens of the vocabulary; intervals are over documents, together with those of the anisotropy."""
        if groups := similarity.token_groups(repeated.token):
            score = similarity.self_similarity_score(
                repeated, groups, scores.self_similarity, self.seed, self.resamples
            )
            count = Count(len(groups), "tokens of the vocabulary with 5 occurrences or more", "tokens")
            self.add("self_similarity", score.mean, score.interval, count)
            corrected = replace(score, resampled=score.resampled - anisotropy.resampled)
            self.add("self_similarity_corrected", score.mean - anisotropy.mean, corrected.interval)

    def _add_tokens(self, scores: similarity.TokenScores) -> None:
        """Further scores of tokens; intervals are over tokens of the vocabulary."""
        number = len(scores.self_similarity)
        if not number:
            return
        once = np.ones(number, dtype=bool)
        count = Count(number, "tokens of the vocabulary with 5 occurrences or more", "tokens")
        variance = self._tally(scores.explained, once)
        self.add("explained_variance", variance.mean, variance.interval, count)
        gain = self._tally(scores.explained - scores.chance, once)
        self.add("explained_variance_corrected", gain.mean, gain.interval)
        self._add_pairs("position_similarity", "gap", scores.gaps, scores.gap_pairs)
        if scores.segment_pairs.any(0).all():
            self._add_pairs("segment_similarity", "segments", scores.segments, scores.segment_pairs)

    def _add_pairs(self, name: str, dim: str, values: np.ndarray, pairs: np.ndarray) -> None:
        means = self._tally(values, pairs)
        count = Count(means.count, "pairs of occurrences", "pairs", (dim,))
        self.add(name, means.mean, means.interval, count)

    def _add_cls(self, cls: Occurrences) -> None:
        """Scores of [CLS] by layer; in the embeddings it is the same everywhere.

        Where all [CLS] are the same but for the rounding of half precision, there is no similarity without their mean.
        """
        cosines = self._mean_cosines(cls)[1:]
        count = Count(cosines.count, "inputs with [CLS]", "inputs")
        self.variables.add("cls_similarity", cosines.mean, interval=cosines.interval, count=count)
        vectors = [cls.vectors(space) for space in range(1, self.spaces)]
        common = [similarity.shared(space) for space in vectors]
        documents = np.unique(cls.document, return_inverse=True)[1]
        after = [
            mean_cosine_between(similarity.centred(space), documents) if share < 1 - ROUNDING else np.nan
            for space, share in zip(vectors, common, strict=True)
        ]
        self.variables.add("cls_similarity_centred", after)
        self.variables.add("cls_shared", common)
