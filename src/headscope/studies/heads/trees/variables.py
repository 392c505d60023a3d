"""Scores of trees as labelled variables of a result."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, by_layer, places
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import Tally, merge
from headscope.statistics.split_half import BestHead, Split, column, held_out_scores
from headscope.studies.heads.trees import STUDY
from headscope.studies.heads.trees.scores import (
    DISTANCES,
    HELD_OUT,
    METRICS,
    ROOTS,
    SIMPLE,
    SPECIAL_TOKENS,
    TreeRows,
    best_attachments,
    best_phrases,
    tally_of,
)

BASELINES = ("right_branching", "left_branching", "fixed_word", "balanced", "random")


class TreeVariables:
    """The variables of the rows of a corpus; `heads` is the number of heads of each layer.

    * `random_rows`: rows of the same model with random weights, by seed.
    """

    def __init__(self, rows: TreeRows, random_rows: Mapping[int, TreeRows], heads: tuple[int, ...], split: Split):
        self.rows, self.random_rows, self.heads, self.split = rows, random_rows, heads, split
        coords = {
            "direction": DIRECTIONS,
            "special_tokens": SPECIAL_TOKENS,
            "root": ROOTS,
            "distance": DISTANCES,
            "metric": METRICS,
            "baseline": BASELINES,
            "seed": list(random_rows),
        }
        self.variables = Variables(coords, STUDY.source, STUDY.labels)

    def arrays(self) -> dict[str, xr.DataArray]:
        """All variables; those of phrases only where the corpus has some."""
        words = Count(int(self.rows.words.sum()), "scored words", "words")
        for metric in METRICS:
            tally = tally_of(getattr(self.rows, metric), self.rows.words, self.rows, self.split)
            without = ROOTS.index("undirected") if metric == "uas" else None
            self._add_units(metric, tally, words, without=without)
        roots = Count(int(self.rows.rooted.sum()), "sentences with a root", "sentences")
        tally = tally_of(self.rows.root, self.rows.rooted.astype(np.int64), self.rows, self.split)
        self._add_units("root_accuracy", tally, roots)
        self._add_chosen()
        if self.rows.bracketed.any():
            self._add_phrases()
        return self.variables.arrays

    def _add_units(self, name: str, tally: Tally, count: Count, without: int | None = None) -> None:
        """Add `name[layer, head, *dims]`, `layer_name[layer, *dims]` and `model_name[*dims]` with their intervals.

        * `without`: a label of the last dimension that has no value.
        """
        sizes = [len(self.variables.coords[dim]) for dim in STUDY.labels[f"model_{name}"].dims]
        bounds = tally.interval if name == "f1" else tally.share_interval
        mean, interval = tally.mean.reshape(-1, *sizes), bounds.reshape(-1, *sizes, 2)  # [unit, *dims]
        if without is not None:
            mean[..., without] = interval[..., without, :] = np.nan
        total, layers = sum(self.heads), len(self.heads)
        parts = {"": slice(total), "layer_": slice(total, total + layers), "model_": slice(total + layers, None)}
        for prefix, part in parts.items():
            values, bounds = (
                by_layer(array[part], self.heads) if not prefix else array[part] for array in (mean, interval)
            )
            if prefix == "model_":
                values, bounds = values[0], bounds[0]
            self.variables.add(f"{prefix}{name}", values, interval=bounds, count=count)

    def _add_chosen(self) -> None:
        """The best heads of one half of the inputs, scored on the other half, beside baselines."""
        best = self._best(self.rows)
        self._add_places("chosen", best)
        directions = column(best, lambda head: DIRECTIONS[head.selected.direction], "")
        self.variables.add("chosen_direction", self._shaped("chosen_direction", directions))
        words = self._shaped("chosen_score", column(best, lambda head: int(head.held_out.count), 0))
        count = Count(words, "held-out words", "words", STUDY.labels["chosen_score"].dims)
        self._add_held_out("chosen_score", best, HELD_OUT.index("chosen"), count)
        self._add_held_out("chosen_gain", best, HELD_OUT.index("gain"))
        self._add_random("random_score", self._best)
        self._add_baselines(best)

    def _add_random(self, name: str, best_of: Callable[[TreeRows], list]) -> None:
        """The scores of the best heads with random weights: their means over seeds, and those of each seed."""
        if self.random_rows:
            by_seed = [best_of(rows) for rows in self.random_rows.values()]
            self._add_held_out(name, [_over_seeds(best) for best in zip(*by_seed, strict=True)], 0)
            means = np.stack([held_out_scores(best, 0)[0] for best in by_seed], axis=-1)
            self.variables.add(f"{name}_by_seed", self._shaped(name, means))

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

    def _add_held_out(self, name: str, best: list[BestHead | None], row: int, count: Count | None = None) -> None:
        """Add a row of the held-out scores of the best heads; UAS and UUAS are shares, gains and F1 are not."""
        means, interval = held_out_scores(best, row, share=name in ("chosen_score", "random_score"))
        self.variables.add(name, self._shaped(name, means), interval=self._shaped(name, interval), count=count)

    def _add_places(self, name: str, best: list[BestHead | None]) -> None:
        """Layer and number of the best heads."""
        labels = places(self.heads)
        for part, unit in enumerate(("layer", "head")):
            values = column(best, lambda head, part=part: labels[head.selected.head][part])
            self.variables.add(f"{name}_{unit}", self._shaped(f"{name}_{unit}", values))

    def _add_baselines(self, best: list[BestHead | None]) -> None:
        """Scores of trees that need no model, on the half on which heads are scored; NaN where a tree has no such."""
        first = [best[0], best[len(best) // 2]]  # of each metric
        rows = [HELD_OUT.index(name) if name in HELD_OUT else None for name in BASELINES]
        nothing = (np.full(len(METRICS), np.nan), np.full((len(METRICS), 2), np.nan))
        scores = [nothing if row is None else held_out_scores(first, row, share=True) for row in rows]
        means, intervals = (np.stack(part, axis=1) for part in zip(*scores, strict=True))
        self.variables.add("baseline_score", means, interval=intervals)

    def _add_phrases(self) -> None:
        """F1 of phrases: of all units, of the best heads of one half on the other, and of trees without a model."""
        rows = self.rows[self.rows.bracketed]
        ones = np.ones(len(rows), dtype=np.int64)
        count = Count(len(rows), "sentences with phrases", "sentences")
        self._add_units("f1", tally_of(rows.f1, ones, rows, self.split), count)
        simple = tally_of(rows.simple_f1, ones, rows, self.split)
        order = [SIMPLE.index(name) if name in SIMPLE else -1 for name in BASELINES]
        missing = np.array(order) < 0
        interval = np.where(missing[:, None], np.nan, simple.interval[order])
        self.variables.add("baseline_f1", np.where(missing, np.nan, simple.mean[order]), interval=interval)
        best = self._best_phrases(self.rows)
        self._add_places("chosen_f1", best)
        sentences = self._shaped("chosen_f1", column(best, lambda head: int(head.held_out.count), 0))
        count = Count(sentences, "held-out sentences with phrases", "sentences", STUDY.labels["chosen_f1"].dims)
        self._add_held_out("chosen_f1", best, 0, count)
        self._add_held_out("gain_f1", best, 1)
        self._add_random("random_f1", self._best_phrases)

    def _best_phrases(self, rows: TreeRows) -> list[BestHead | None]:
        """By distance and special tokens."""
        return [
            best_phrases(rows, sum(self.heads), self.split, distance, special)
            for distance in range(len(DISTANCES))
            for special in range(len(SPECIAL_TOKENS))
        ]

    def _shaped(self, name: str, values: Any) -> np.ndarray:
        """Values in a row with the dimensions of a variable; what each has (bounds, seeds) stays after them."""
        array = np.asarray(values)
        sizes = (len(self.variables.coords[dim]) for dim in STUDY.labels[name].dims)
        return array.reshape(*sizes, *array.shape[1:])


def _over_seeds(best: Sequence[BestHead | None]) -> BestHead | None:
    """The best heads of several seeds as one, which has the mean of their scores."""
    present = [head for head in best if head]
    return BestHead(present[0].selected, merge(head.held_out for head in present)) if present else None
