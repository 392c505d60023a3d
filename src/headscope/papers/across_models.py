"""Claims by models, which findings carry over; and what differs between two models: claims, kinds of heads, layers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import head_name
from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.kinds import head_kinds, words_of
from headscope.report.layer_numbers import layer_numbers
from headscope.report.parts import LayerNumber
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import layers_named, several
from headscope.results.tables import markdown_cell
from headscope.statistics.significance import RATE, WIDTH, benjamini_hochberg

Judged = Sequence[tuple[MeasuredModel, Sequence[Judgement]]]


def names(models: Sequence[MeasuredModel]) -> list[str]:
    """A name for each model, with the start of its hash where two have the same."""
    counts = Counter(model.name for model in models)
    return [
        f"{model.name} ({(model.sha256 or str(number))[:8]})" if counts[model.name] > 1 else model.name
        for number, model in enumerate(models, 1)
    ]


def by_claim(judged: Judged) -> list[dict[str, Any]]:
    """The claims that are measured for any of the models, each with its verdicts by model, in the papers' order."""
    models = names([model for model, _ in judged])
    rows = []
    for judgements in zip(*(claims for _, claims in judged), strict=True):
        if any(judgement.test for judgement in judgements):
            first = judgements[0]
            verdicts = {name: judgement.verdict for name, judgement in zip(models, judgements, strict=True)}
            about = {"id": first.claim.id, "paper": first.paper.name, "claim": first.claim.claim}
            rows.append({**about, "title": first.paper.title, "verdicts": verdicts})
    return rows


def records(judged: Judged) -> list[dict[str, Any]]:
    """The verdicts on the claims of each model, for JSON."""
    return [
        {"model": model.name, "sha256": model.sha256, "claims": [judgement.record() for judgement in judgements]}
        for model, judgements in judged
    ]


def summed_up(judged: Judged) -> str:
    """How many claims carry over, as a sentence: of those that are decided for every model."""
    rows = by_claim(judged)
    decided = [set(row["verdicts"].values()) for row in rows if set(row["verdicts"].values()) <= {"holds", "fails"}]
    hold, fail = (sum(verdicts == {name} for verdicts in decided) for name in ("holds", "fails"))
    if not decided:
        return "No claim is decided for all of these models."
    return (
        f"{several(len(decided), 'claim')} {'is' if len(decided) == 1 else 'are'} decided for all "
        f"{len(judged)} models: {hold} hold for all, {fail} fail for all, {len(decided) - hold - fail} differ."
    )


def tables(judged: Judged) -> list[Table]:
    """A table for each paper: claims as rows, models as columns."""
    rows, models = by_claim(judged), names([model for model, _ in judged])
    by_paper = []
    for paper in dict.fromkeys(row["paper"] for row in rows):
        mine = [row for row in rows if row["paper"] == paper]
        lines: list[tuple[str, Cells]] = [
            (row["id"], [(row["claim"], ""), *((row["verdicts"][name], "") for name in models)]) for row in mine
        ]
        by_paper.append(titled(f"across-{paper}", mine[0]["title"], "Id", ("Claim", *models), lines))
    return by_paper


def contents(judged: Judged) -> dict[str, Any]:
    """The table and its sentence, for a template."""
    return {"models": names([model for model, _ in judged]), "rows": by_claim(judged), "sum": summed_up(judged)}


def markdown(judged: Judged) -> str:
    """The table as a section of Markdown."""
    models = names([model for model, _ in judged])
    lines = ["# Claims by models", "", summed_up(judged), "", f"| | claim | {' | '.join(map(markdown_cell, models))} |"]
    lines.append("| --- " * (len(models) + 2) + "|")
    for row in by_claim(judged):
        cells = (row["id"], row["claim"], *row["verdicts"].values())
        lines.append("| " + " | ".join(map(markdown_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class LayerChange:
    """A number of layers, and the layers in which the second model is shown to be higher or lower than the first."""

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


def differing_lines(differing: dict[str, Any]) -> list[str]:
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
