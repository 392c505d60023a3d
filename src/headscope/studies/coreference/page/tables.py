"""Chosen heads and baselines by kind of mention, as Table 2 of Clark et al. (2019); by gender; gaps by head."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.tables import Column, Table
from headscope.statistics.thresholds import RATE
from headscope.studies.coreference.page.summary import Bounded, Kind, asks, bounded, kinds

ROWS = {"nearest": "Nearest", "head_match": "Head match", "rules": "Rules", "random": "Random"}
# BERT-base on CoNLL-2012, documents cut to 128 tokens: all, pronoun, proper, nominal.
PAPER_KINDS = ("all", "pronoun", "proper", "nominal")
PAPER = {
    "Clark et al.: nearest": (27, 29, 29, 19),
    "Clark et al.: head match": (52, 47, 67, 40),
    "Clark et al.: rules": (69, 70, 77, 60),
    "Clark et al.: head 5-4": (65, 64, 73, 58),
}
MOST = 10
Cell = tuple[str, str] | None


def tables(result: xr.Dataset) -> list[Table]:
    """Table 2; of GAP the scores by gender, of WinoBias and Winogender the heads with the largest gaps."""
    return [*_table_2(result), *_by_gender(result), *_gaps(result)]


def _table_2(result: xr.Dataset) -> Iterator[Table]:
    if not (found := kinds(result)):
        return
    paper = "" if asks(result) else " Clark et al. (2019): BERT-base on CoNLL-2012, Table 2."
    caption = (
        "Antecedents found: per cent of mentions, with 95% intervals; heads chosen on one half of the corpus, all "
        "rows scored on the other half. Special: 10 points or more over nearest and head match, q < 0.05, at least 50 "
        f"mentions.{paper}"
    )
    rows = [
        *((ROWS[name], [_percent(each.baselines[name]) for each in found]) for name in found[0].baselines),
        ("Best head", [_percent(each.accuracy) for each in found]),
        ("which", [(each.head, "") for each in found]),
        ("gain over nearest and head match", [_points(each.gain) for each in found]),
        ("q", [_rate(each.q) for each in found]),
        ("special", [("yes" if each.special else "", "") for each in found]),
        ("mentions", [(f"{each.held_out:,}", "") for each in found]),
        *([] if asks(result) else _paper(found)),
    ]
    yield _table("table-2", caption, "", [each.name for each in found], rows)


def _paper(found: list[Kind]) -> Iterator[tuple[str, list[Cell]]]:
    for name, values in PAPER.items():
        known: dict[str, int] = dict(zip(PAPER_KINDS, values, strict=True))
        yield name, [(str(known[each.name]), "") for each in found]


def _by_gender(result: xr.Dataset) -> Iterator[Table]:
    if "f1" not in result:
        return
    genders = result["gender"].values.tolist()
    rows = [
        (ROWS[str(name)], [*_f1(part, "baseline_f1", genders), _ratio(part, "baseline_bias_ratio")])
        for name in result["baseline"].values
        if (part := result.sel(baseline=name))["baseline_f1"].sum() > 0
    ]
    best = result["f1"].sel(gender="overall").stack(place=["layer", "head"]).dropna("place")
    for one in best["place"].values[(-best).argsort().values][:MOST]:
        part = result.sel(layer=one[0], head=one[1])
        rows.append((f"Head {head_name(*one)}", [*_f1(part, "f1", genders), _ratio(part, "bias_ratio")]))
    if "chosen_f1" in result:
        cells = [*_f1(result, "chosen_f1", genders), _ratio(result, "chosen_bias_ratio")]
        rows.append(("Head chosen on one half, on the other", cells))
    caption = (
        f"F1 by the gender of the pronoun, and feminine over masculine, with 95% intervals: baselines and the {MOST} "
        "best heads, all passages; best of many, so read the last row for what a head can do."
    )
    yield _table("gender", caption, "", [*genders, "feminine / masculine"], rows)


def _f1(part: xr.Dataset, name: str, genders: list[str]) -> list[Cell]:
    return [_plain(bounded(part.sel(gender=gender), name), 3) for gender in genders]


def _ratio(part: xr.Dataset, name: str) -> Cell:
    return _plain(bounded(part, name), 2)


def _gaps(result: xr.Dataset) -> Iterator[Table]:
    if "attention_gap" not in result:
        return
    flat = result["attention_gap"].stack(place=["layer", "head"]).dropna("place")
    rows = []
    for layer, head in flat["place"].values[(-abs(flat)).argsort().values][:MOST]:
        part = result.sel(layer=layer, head=head)
        cells = [_plain(bounded(part.sel(stereotype=name), "attention"), 3) for name in ("pro", "anti")]
        cells += [_plain(bounded(part, "attention_gap"), 3), _rate(float(part["attention_gap_q"]))]
        cells += [_points(bounded(part, "preference_gap")), _rate(float(part["preference_gap_q"]))]
        rows.append((head_name(layer, head), cells))
    columns = ["attention, pro", "attention, anti", "gap", "q", "preference gap (points)", "q of preference"]
    caption = (
        f"The {MOST} heads with the largest gaps: attention of the pronoun to the occupation where it has the gender "
        f"that is expected (pro) and where it has the other (anti), with 95% intervals. Gaps have q < {RATE}."
    )
    yield _table("gaps", caption, "Head", columns, rows)


def _table(name: str, caption: str, key: str, columns: list[str], rows: list[tuple[str, list[Cell]]]) -> Table:
    heads = tuple(Column(words, words) for words in columns)
    return Table(name, caption, "", "", (key or "Way to choose",), heads, [((first,), cells) for first, cells in rows])


def _percent(value: Bounded) -> Cell:
    middle, lower, upper = (100 * each for each in value)
    return f"{middle:.1f}", f"{lower:.1f}, {upper:.1f}"


def _points(value: Bounded) -> Cell:
    middle, lower, upper = (100 * each for each in value)
    return f"{middle:+.1f}", f"{lower:.1f}, {upper:.1f}"


def _plain(value: Bounded, digits: int) -> Cell:
    middle, lower, upper = (f"{each:.{digits}f}" for each in value)
    return middle, f"{lower}, {upper}"


def _rate(q: float) -> Cell:
    return (f"{q:.2g}" if q >= 1e-4 else "<0.0001"), ""
