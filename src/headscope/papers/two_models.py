"""What differs between two models: claims, kinds of heads, layers; only where results of both have it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import head_name
from headscope.papers.across_models import by_claim, names, summed_up
from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.kinds import head_kinds, words_of
from headscope.report.layer_numbers import layer_numbers
from headscope.report.parts import LayerNumber
from headscope.report.wording import layers_named
from headscope.statistics.interval_tests import WIDTH
from headscope.statistics.significance import RATE, benjamini_hochberg


@dataclass(frozen=True)
class LayerChange:
    """A number of layers, and the layers in which the second model is surely higher or lower than the first."""

    words: str
    gained: tuple[int, ...]
    lost: tuple[int, ...]

    @property
    def text(self) -> str:
        """The layers in words."""
        parts = [("gained", self.gained), ("lost", self.lost)]
        return "; ".join(f"{layers_named(layers)} {word}" for word, layers in parts if layers)


def differences(judged: Sequence[tuple[MeasuredModel, Sequence[Judgement]]]) -> dict[str, Any]:
    """What differs between two models, for a template and for the terminal.

    * `claims`: that hold for one and fail for the other; `heads`: with other kinds, where both models have the same
      heads; `layers`: numbers that changed, where both have the same layers.
    * `shared`: the studies that both have a result of, of the same corpus.
    """
    (first, _), (second, _) = judged
    pairs = list(_pairs(first, second))
    rows = [row for row in by_claim(judged) if len(set(row["verdicts"].values())) > 1]
    rows = [row for row in rows if not {"not measured", "does not apply"} & {*row["verdicts"].values()}]
    return {
        "names": names([first, second]),
        "sum": summed_up(judged),
        "claims": sorted(rows, key=lambda row: "undecided" in row["verdicts"].values()),
        "shared": [source.name for source, _ in pairs],
        "heads": list(changed_heads(pairs)) if first.heads == second.heads else [],
        "same_heads": bool(first.heads) and first.heads == second.heads,
        "layers": changed_layers(pairs),
    }


def changed_heads(pairs: Sequence[tuple[Source, Source]]) -> Iterator[tuple[str, str, str]]:
    """The heads whose kinds differ: their names, and the kinds in both models, in words."""
    kinds = [head_kinds(pair[side].result for pair in pairs) for side in (0, 1)]
    for head in sorted({*kinds[0], *kinds[1]}):
        before, after = (words_of(by_head.get(head, [])) or "none" for by_head in kinds)
        if before != after:
            yield head_name(*head), before, after


def changed_layers(pairs: Sequence[tuple[Source, Source]]) -> list[LayerChange]:
    """The numbers of layers that differ: the difference's interval, corrected for all layers, excludes 0.

    The two numbers count as independent, so that the interval is too wide where both rise and fall together.
    """
    both = list(_layer_pairs(pairs))
    p = [_p_values(first.array, second.array) for first, second in both]
    q = benjamini_hochberg(np.concatenate(p)) if p else np.array([])
    ends = np.cumsum([len(values) for values in p])[:-1]
    changes = [_change(*pair, values) for pair, values in zip(both, np.split(q, ends), strict=True)] if p else []
    return [change for change in changes if change.gained or change.lost]


def in_lines(differing: dict[str, Any]) -> list[str]:
    """What differs in some lines of text."""
    first, second = differing["names"]
    lines = [f"{first} and {second}: {differing['sum']}"]
    lines += [f"{row['id']} {row['claim']} {_verdicts(row)}" for row in differing["claims"]]
    lines += [f"head {head}: {before} in {first}, {after} in {second}" for head, before, after in differing["heads"]]
    return lines + [f"{change.words}: {change.text} in {second}" for change in differing["layers"]]


def _verdicts(row: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {verdict}" for name, verdict in row["verdicts"].items())


def _pairs(first: MeasuredModel, second: MeasuredModel) -> Iterator[tuple[Source, Source]]:
    """Results of both models by the same study of the same corpus."""
    theirs = {_key(source): source for source in second.sources}
    return ((source, theirs[key]) for source in first.sources if (key := _key(source)) in theirs)


def _key(source: Source) -> tuple[str, str]:
    attrs = source.result.attrs
    return str(attrs["study"]), str(attrs.get("corpus_sha256") or attrs["corpus"])


def _layer_pairs(pairs: Iterable[tuple[Source, Source]]) -> Iterator[tuple[LayerNumber, LayerNumber]]:
    """Numbers of layers that both have, of the same layers and with intervals."""
    for first, second in pairs:
        theirs = {(number.topic, number.words): number for number in layer_numbers([second.result])}
        for mine in layer_numbers([first.result]):
            other = theirs.get((mine.topic, mine.words))
            if other and {"lower", "upper"} <= {*mine.array.coords} & {*other.array.coords}:
                if mine.array["layer"].values.tolist() == other.array["layer"].values.tolist():
                    yield mine, other


def _p_values(first: xr.DataArray, second: xr.DataArray) -> np.ndarray:
    """The p-value of each layer's difference, two-sided, of normal numbers; NaN without an interval."""
    error = np.hypot(*((array["upper"].values - array["lower"].values) / WIDTH for array in (first, second)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * norm.sf(abs(np.asarray(second.values - first.values) / error))


def _change(first: LayerNumber, second: LayerNumber, q: np.ndarray) -> LayerChange:
    difference, layers = second.array.values - first.array.values, first.array["layer"].values
    gained, lost = ((sign * difference > 0) & (q < RATE) for sign in (1, -1))
    return LayerChange(f"{first.topic}: {first.words}", *(tuple(map(int, layers[part])) for part in (gained, lost)))
