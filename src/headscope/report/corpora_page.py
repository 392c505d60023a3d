"""What heads do on several corpora as one offline page: which keep their kind, and which do not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import xarray as xr

from headscope.figures import classes
from headscope.figures.export import DEFAULT_FORMATS, save_spec
from headscope.figures.labels import head_name, of_model
from headscope.report import default_parts
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.claims import above
from headscope.report.declared import StudyParts
from headscope.report.joined_corpora import kinds_by_corpus
from headscope.report.kinds import COLOURS, MIXED, NAMES
from headscope.report.page import Page
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate

CAPTION = (
    "The main kind of each head on each corpus: the most specific one of the atlas. A head without one is mixed. "
    "After the question of Kovaleva et al. (2019), section 6."
)
MOST_ROWS = 200


def write_corpora(models: Sequence[MeasuredModel], directory: str | Path, *, made_of: str = "") -> Path | None:
    """Write `directory/corpora.html` of the models that were measured on several corpora; return its path.

    None where no model was: two results of one study, on two corpora, are the least.
    """
    compared = [(model, kinds_by_corpus([source.result for source in model.sources])) for model in models]
    contents = [
        {
            "model": model,
            "findings": findings(result),
            "figures": [figure(result, index)],
            "tables": list(tables(result)),
        }
        for index, (model, result) in enumerate(compared, 1)
        if result is not None
    ]
    if not contents:
        return None
    page = Page(Path(directory) / "corpora.html", "corpora.html", {"models": contents, "formats": DEFAULT_FORMATS})
    page.contents["made_of"] = made_of
    page.draw([chart for content in contents for chart in content["figures"]], save_spec)
    return page.write()


def findings(result: xr.Dataset) -> list[Finding]:
    """How many heads keep their kind, beside chance, and which kinds are kept."""
    same, chance = estimate(result, "same_kind"), float(result["same_kind_chance"])
    heads, corpora = int(result["same_kind_n_examples"]), result["corpus"].values.tolist()
    share = f"{same.value:.0%} of the heads do the same on {'both' if len(corpora) == 2 else 'all'} corpora"
    kept = ", ".join(
        f"{NAMES[name]} {estimate(result, 'kept_kind', kind_name=name).text}"
        for name in result["kind_name"].values.tolist()
        if name != MIXED
    )
    return [
        Finding.judged(
            above(same, chance, heads),
            f"Heads with the same main kind on {', '.join(corpora)}: {same.percent} of {heads}, by "
            f"{result.attrs['studies']}. With the kinds of each corpus dealt to the heads at random it would be "
            f"{chance:.0%}. The interval is over heads.",
            holds=share,
            fails="Heads keep their kind no more than by chance",
            undecided=f"{share}, perhaps by chance",
            unit="heads",
        ),
        Finding(
            "Kinds that are kept",
            f"Share of the heads with a kind on any corpus that have it on all: {kept or 'no head has one'}.",
        ),
    ]


def figure(result: xr.Dataset, index: int) -> Figure:
    """The kinds of all heads, a panel for each corpus."""
    names = result["kind_name"].values.tolist()
    words = result["kind"].copy(
        data=[[[of_model(NAMES.get(kind, "")) for kind in row] for row in grid] for grid in result["kind"].values]
    )
    chart = classes(
        words, names=[of_model(NAMES[name]) for name in names], dim="kind", colours=[COLOURS[name] for name in names]
    )
    return Figure(f"corpora-{index}", "", chart, CAPTION, "")


def tables(result: xr.Dataset) -> Iterator[Table]:
    """The number of heads of each kind by corpus, and the heads that do not keep theirs."""
    corpora = result["corpus"].values.tolist()
    rows: list[tuple[str, Cells]] = []
    for name in result["kind_name"].values.tolist():
        counts: Cells = [(str(int((result["kind"].sel(corpus=corpus) == name).sum())), "") for corpus in corpora]
        rows.append((NAMES[name], [*counts, estimate(result, "kept_kind", kind_name=name).cell(".2f")]))
    caption = (
        "Heads of each main kind by corpus, and the share of them, of any corpus, that have it on all (95% interval)."
    )
    yield titled("kinds", caption, "Kind", [*corpora, "Kept"], rows)
    changed = [(name, cells) for name, cells in _heads(result) if len(set(cells)) > 1]
    if changed:
        more = f" The first {MOST_ROWS} of {len(changed)}." if len(changed) > MOST_ROWS else ""
        heads: list[tuple[str, Cells]] = [(name, [(kind, "") for kind in kinds]) for name, kinds in changed[:MOST_ROWS]]
        yield titled("changed", f"Heads whose main kind is not the same on all corpora.{more}", "Head", corpora, heads)


def _heads(result: xr.Dataset) -> Iterator[tuple[str, list[str]]]:
    for layer in result["layer"].values.tolist():
        for head in result["head"].values.tolist():
            kinds = result["kind"].sel(layer=layer, head=head).values.tolist()
            if kinds[0]:
                yield head_name(layer, head), [NAMES[kind] for kind in kinds]


# The page of a joined result: how many heads keep their kind on all corpora, which do not, and all numbers.
PAGE = StudyParts(
    highlights=(lambda numbers: findings(numbers.result),),
    findings=(lambda numbers: default_parts.findings(numbers.result),),
    charts=(
        lambda numbers: replace(figure(numbers.result, 1), variable="kind"),
        lambda numbers: default_parts.figures(numbers.result),
    ),
    tables=(lambda numbers: tables(numbers.result),),
)
