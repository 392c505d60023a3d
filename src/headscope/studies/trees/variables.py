"""Scores of trees as labelled variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, by_layer, places
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import Tally
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.studies.trees.rows import DISTANCES, ROOTS, SIMPLE, SPECIAL_TOKENS, TreeRows
from headscope.studies.trees.scores import HELD_OUT, METRICS, Split, best_attachments, best_phrases, tally_of

DEPENDENCIES = "Raganato and Tiedemann 2018, section 4.3; Htut et al. 2019, section 4.2"
PHRASES = "Kim et al. 2020, section 3"
SHARE = "share of words"
BASELINES = ("right_branching", "left_branching", "fixed_offset", "balanced", "random")
TREE_DIMS = ("direction", "special_tokens", "root")
NAMES = {
    "uas": "words, without root and punctuation, that get their syntactic head",
    "uuas": "words, without root and punctuation, that are linked with their syntactic head",
}
OF = {
    "": "in the tree of a head",
    "layer_": "in the tree of a layer's mean",
    "model_": "in the tree of all heads' mean",
}


class TreeVariables:
    """The variables of the rows of a corpus; `heads` is the number of heads of each layer.

    * `random_rows`: rows of the same model with random weights, if any.
    """

    def __init__(self, rows: TreeRows, random_rows: TreeRows | None, heads: tuple[int, ...], split: Split):
        self.rows, self.random_rows, self.heads, self.split = rows, random_rows, heads, split
        coords = {
            "direction": DIRECTIONS,
            "special_tokens": SPECIAL_TOKENS,
            "root": ROOTS,
            "distance": DISTANCES,
            "metric": METRICS,
            "baseline": BASELINES,
        }
        self.variables = Variables(coords, DEPENDENCIES)
        self.phrases = Variables(coords, PHRASES)

    def arrays(self) -> dict[str, xr.DataArray]:
        """All variables; those of phrases only where the corpus has some."""
        words = Count(int(self.rows.words.sum()), "scored words", "words")
        for metric, long_name in NAMES.items():
            tally = tally_of(getattr(self.rows, metric), self.rows.words, self.rows, self.split)
            without = ROOTS.index("undirected") if metric == "uas" else None
            self._add_units(self.variables, metric, tally, TREE_DIMS, long_name, SHARE, words, without=without)
        roots = Count(int(self.rows.rooted.sum()), "sentences with a root", "sentences")
        tally = tally_of(self.rows.root, self.rows.rooted.astype(np.int64), self.rows, self.split)
        long_name = "sentences whose best tree has the gold root"
        dims = TREE_DIMS[:2]
        self._add_units(self.variables, "root_accuracy", tally, dims, long_name, "share of sentences", roots)
        self._add_chosen()
        if self.rows.bracketed.any():
            self._add_phrases()
        return self.variables.arrays | self.phrases.arrays

    def _add_units(
        self,
        variables: Variables,
        name: str,
        tally: Tally,
        dims: tuple[str, ...],
        long_name: str,
        units: str,
        count: Count,
        without: int | None = None,
    ) -> None:
        """Add `name[layer, head, *dims]`, `layer_name[layer, *dims]` and `model_name[*dims]` with their intervals.

        * `without`: a label of the last dimension that has no value.
        """
        sizes = [len(variables.coords[dim]) for dim in dims]
        mean, interval = tally.mean.reshape(-1, *sizes), tally.interval.reshape(-1, *sizes, 2)  # [unit, *dims]
        if without is not None:
            mean[..., without] = interval[..., without, :] = np.nan
        total, layers = sum(self.heads), len(self.heads)
        parts = {"": slice(total), "layer_": slice(total, total + layers), "model_": slice(total + layers, None)}
        for prefix, part in parts.items():
            values = [each[part] if prefix else by_layer(each[part], self.heads) for each in (mean, interval)]
            variables.add(
                f"{prefix}{name}",
                values[0][0] if prefix == "model_" else values[0],
                (*{"": ("layer", "head"), "layer_": ("layer",), "model_": ()}[prefix], *dims),
                long_name=f"{long_name}, {OF[prefix]}",
                units=units,
                interval=values[1][0] if prefix == "model_" else values[1],
                count=count,
            )

    def _add_chosen(self) -> None:
        """The best heads of one half of the inputs, scored on the other half, beside baselines."""
        dims = ("metric", "special_tokens", "root")
        best = self._best(self.rows)
        self._add_places(self.variables, "chosen", best, dims)
        directions = column(best, lambda each: DIRECTIONS[each.selected.direction], "")
        long_name = "direction in which that head is best"
        self.variables.add("chosen_direction", self._shaped(directions), dims, long_name=long_name, units="direction")
        words = Count(
            self._shaped(column(best, lambda each: int(each.held_out.count), 0)), "held-out words", "words", dims
        )
        labels = {"chosen_score": "score of the chosen head", "chosen_gain": "gain of the chosen head over the offset"}
        for name, row in zip(labels, ("chosen", "gain"), strict=True):
            self._add_held_out(
                name, best, row, f"{labels[name]}, on the other half", words if row == "chosen" else None
            )
        if self.random_rows is not None:
            random = self._best(self.random_rows)
            self._add_held_out("random_score", random, "chosen", "score of the best head with random weights", None)
        self._add_baselines(best)

    def _best(self, rows: TreeRows) -> list[BestHead | None]:
        """By metric, special tokens and root; a tree without a root has no UAS."""
        return [
            None
            if (metric, ROOTS[root]) == ("uas", "undirected")
            else best_attachments(rows, sum(self.heads), self.split, metric, special, root)
            for metric in METRICS
            for special in range(len(SPECIAL_TOKENS))
            for root in range(len(ROOTS))
        ]

    def _shaped(self, values: list) -> np.ndarray:
        return np.array(values).reshape(len(METRICS), len(SPECIAL_TOKENS), len(ROOTS), *np.shape(values)[1:])

    def _add_held_out(
        self, name: str, best: list[BestHead | None], row: str, long_name: str, count: Count | None
    ) -> None:
        means, intervals = held_out_scores(best, HELD_OUT.index(row))
        self.variables.add(
            name,
            self._shaped(means.tolist()),
            ("metric", "special_tokens", "root"),
            long_name=long_name,
            units=SHARE,
            interval=self._shaped(intervals.tolist()),
            count=count,
        )

    def _add_places(self, variables: Variables, name: str, best: list[BestHead | None], dims: tuple[str, ...]) -> None:
        """Layer and number of the best heads."""
        place, shape = places(self.heads), [len(variables.coords[dim]) for dim in dims]
        for part, unit in enumerate(("layer", "head")):
            values = column(best, lambda each, part=part: place[each.selected.head][part])
            long_name = f"{unit} of the head that is best on one half"
            variables.add(f"{name}_{unit}", np.reshape(values, shape), dims, long_name=long_name, units=unit)

    def _add_baselines(self, best: list[BestHead | None]) -> None:
        """Scores of trees that need no model, on the half on which heads are scored; NaN where a tree has no such."""
        first = [best[0], best[len(best) // 2]]  # of each metric
        rows = [HELD_OUT.index(name) if name in HELD_OUT else None for name in BASELINES]
        nothing = (np.full(len(METRICS), np.nan), np.full((len(METRICS), 2), np.nan))
        scores = [nothing if row is None else held_out_scores(first, row) for row in rows]
        self.variables.add(
            "baseline_score",
            np.stack([mean for mean, _ in scores], axis=1),
            ("metric", "baseline"),
            long_name="score of a tree that needs no model, on the other half",
            units=SHARE,
            interval=np.stack([interval for _, interval in scores], axis=1),
        )

    def _add_phrases(self) -> None:
        """F1 of phrases: of all units, of the best heads of one half on the other, and of trees without a model."""
        rows, dims = self.rows[self.rows.bracketed], ("distance", "special_tokens")
        ones, long_name, units = np.ones(len(rows), dtype=np.int64), "F1 of the phrases of a sentence", "F1"
        count = Count(len(rows), "sentences with phrases", "sentences")
        self._add_units(self.phrases, "f1", tally_of(rows.f1, ones, rows, self.split), dims, long_name, units, count)
        simple = tally_of(rows.simple_f1, ones, rows, self.split)
        order = [SIMPLE.index(name) if name in SIMPLE else -1 for name in BASELINES]
        missing = np.array(order) < 0
        self.phrases.add(
            "baseline_f1",
            np.where(missing, np.nan, simple.mean[order]),
            ("baseline",),
            long_name=f"{long_name}, in a tree that needs no model",
            units=units,
            interval=np.where(missing[:, None], np.nan, simple.interval[order]),
        )
        best = self._best_phrases(self.rows)
        self._add_places(self.phrases, "chosen_f1", best, dims)
        self._add_held_out_f1("chosen_f1", best, 0, f"{long_name}, of the chosen head on the other half")
        self._add_held_out_f1("gain_f1", best, 1, "gain of the chosen head over right-branching, on the other half")
        if self.random_rows is not None:
            random = self._best_phrases(self.random_rows)
            self._add_held_out_f1("random_f1", random, 0, f"{long_name}, of the best head with random weights")

    def _best_phrases(self, rows: TreeRows) -> list[BestHead | None]:
        """By distance and special tokens."""
        return [
            best_phrases(rows, sum(self.heads), self.split, distance, special)
            for distance in range(len(DISTANCES))
            for special in range(len(SPECIAL_TOKENS))
        ]

    def _add_held_out_f1(self, name: str, best: list[BestHead | None], row: int, long_name: str) -> None:
        means, intervals = held_out_scores(best, row)
        shape = len(DISTANCES), len(SPECIAL_TOKENS)
        dims = ("distance", "special_tokens")
        interval = intervals.reshape(*shape, 2)  # [distance, special tokens, bound]
        self.phrases.add(name, means.reshape(shape), dims, long_name=long_name, units="F1", interval=interval)


def to_variables(
    rows: TreeRows, random_rows: TreeRows | None, heads: tuple[int, ...], split: Split
) -> Mapping[str, xr.DataArray]:
    """The variables of a result; see `TreeVariables`."""
    return TreeVariables(rows, random_rows, heads, split).arrays()
