"""Parts of the page about groups of tokens: pieces of a small vocabulary, and classes of words."""

from collections.abc import Iterator, Mapping
from functools import partial

import xarray as xr

from headscope.figures import matrix
from headscope.figures.labels import head_name
from headscope.report.claims import above, most_of_many, weakest
from headscope.report.declared import Part
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.wording import examples, n_examples, of_array
from headscope.statistics.significance import RATE, q_above

# A head prefers a group to which it gives at least this many times its share.
LEAST, NAMED, ROWS = 2.0, 6, 24
SECTIONS = {"piece": "Pieces", "word_class": "Classes of words"}


def preferred(numbers: Numbers, *, dim: str) -> Finding:
    """The head that gives a group most attention, among those that stand out by the multiple of its share."""
    share, times = numbers.array(f"{dim}_attention"), numbers.array(f"{dim}_multiple")
    names = numbers.labels(f"{dim}_multiple", dim)
    claims = {}
    for name in names:
        array = times.sel({dim: name})
        top = array.isel(array.fillna(-1).argmax(("layer", "head")))
        twice = above(of_array(top), LEAST, (n_examples(array) or (0, 0))[0])
        claims[name] = weakest([most_of_many(array, arrays=len(names)), twice]), top
    heads = {name: {"layer": top["layer"], "head": top["head"]} for name, (_, top) in claims.items()}
    tops = {name: float(share.sel({dim: name} | head)) for name, head in heads.items()}
    best = max(names, key=lambda name: (("fails", "undecided", "holds").index(claims[name][0].verdict), tops[name]))
    claim, top = claims[best]
    head = head_name(int(top["layer"]), int(top["head"]))
    gives = f"Head {head} gives {best} {tops[best]:.0%} of its attention, {float(top):.1f} times its share"
    return Finding.judged(
        claim,
        f"Heads that give a group at least {LEAST:g} times its share, beyond chance: {_listed(share, times, dim)}. The "
        f"share is that of uniform attention.{examples(times)}",
        holds=gives,
        fails=f"No head prefers one of the {SECTIONS[dim].lower()}",
        undecided=f"{gives}, perhaps no more than other heads",
        unit="examples",
    )


def _listed(share: xr.DataArray, times: xr.DataArray, dim: str) -> str:
    """The heads that surely prefer a group, each with the one that gets most, the strongest first."""
    q = q_above(times, LEAST)
    if q is None:
        return "none is known, without intervals"
    sure = share.where((q < RATE) & (times > LEAST))
    flat = sure.max(dim).stack(place=("layer", "head")).dropna("place")
    texts = []
    for layer, head in flat.sortby(flat, ascending=False)["place"].values.tolist():
        at = {"layer": layer, "head": head}
        group = sure.sel(at).idxmax(dim).item()
        texts.append(f"{head_name(layer, head)} to {group} ({float(share.sel(at).sel({dim: group})):.0%})")
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return (", ".join(texts[:NAMED]) or "none") + more


def by_head(numbers: Numbers, *, section: str, captions: Mapping[str, str]) -> Iterator[Figure]:
    """Matrices of heads by groups of tokens, the heads with the largest values of the first number on top."""
    first = numbers.array(next(iter(captions)))
    (dim,) = {*map(str, first.dims)} - {"layer", "head"}
    flat = first.max(dim).stack(place=("layer", "head")).dropna("place")
    places = flat.sortby(flat, ascending=False)["place"].values.tolist()[:ROWS]
    names = xr.DataArray([head_name(layer, head) for layer, head in places], dims="head", name="head")
    for name, caption in captions.items():
        array = numbers.array(name).dropna(dim, how="all")
        rows = [array.sel(layer=layer, head=head).drop_vars(("layer", "head")) for layer, head in places]
        yield Figure(f"{name}-matrix", section, matrix(xr.concat(rows, names).rename(name)), caption, name)


CAPTION = f"The heads that give one of them most, the first on top (at most {ROWS}); from tokens of texts."
TIMES = "The same, over what uniform attention would give: 1 is no preference."
FINDINGS: tuple[Part, ...] = tuple(partial(preferred, dim=dim) for dim in SECTIONS)
DISTANCES: Part = partial(
    by_head,
    section="Neighbouring tokens",
    captions={"attention_distance": "The heads that give one distance most, the first on top; below 0 before a token."},
)
FIGURES: tuple[Part, ...] = tuple(
    partial(by_head, section=section, captions={f"{dim}_attention": CAPTION, f"{dim}_multiple": TIMES})
    for dim, section in SECTIONS.items()
)
