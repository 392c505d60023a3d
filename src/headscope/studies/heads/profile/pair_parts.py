"""Parts of the page, and of a head's card, about attention from each piece of a small vocabulary to each."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import matrix
from headscope.figures.labels import head_name
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.studies.heads.profile.group_parts import LEAST, NAMED

# A pair of pieces is named from so many tokens on.
SHARE, TIMES, TOKENS = "piece_pair_attention", "piece_pair_multiple", 20


def preferences(numbers: Numbers) -> xr.DataArray:
    """Shares [place, from_piece, piece] that are at least twice the piece's share, of the clearest heads first."""
    share, times = numbers.array(SHARE), numbers.array(TIMES)
    clear = share.where((times >= LEAST) & (share["n_examples"] >= TOKENS))
    clear = clear.stack(place=("layer", "head")).transpose("place", ...)
    top = clear.max(("from_piece", "piece")).dropna("place")
    return clear.sel(place=top.sortby(top, ascending=False)["place"])


def pairs(numbers: Numbers) -> Finding:
    """The heads that give most from one piece to another, each with its clearest pair."""
    clear, times, texts = preferences(numbers), numbers.array(TIMES), []
    for head in clear[:NAMED]:
        top = head[head.argmax(("from_piece", "piece"))]
        labels = {dim: top[dim].item() for dim in ("layer", "head", "from_piece", "piece")}
        multiple = f"{float(times.sel(labels)):.1f} times its share"
        where = f"{labels['from_piece']} to {labels['piece']}"
        texts.append(f"{head_name(labels['layer'], labels['head'])} from {where} {float(top):.0%} ({multiple})")
    text = f"Heads and what they give: {', '.join(texts)}." if texts else "No head gives one so much."
    what = f"The clearest pair of each head, of {TOKENS} tokens or more, to which it gives {LEAST:g} times the share"
    return Finding("From piece to piece", f"{text} {what}. These are means, without a test.")


def clearest(numbers: Numbers) -> Iterator[Figure]:
    """The matrices of the head with the clearest pair."""
    for layer, head in preferences(numbers)["place"].values.tolist()[:1]:
        yield from matrices(numbers.result, layer, head)


def matrices(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """What a head gives from each piece (rows) to each (columns), and over the share of the latter."""
    captions = {SHARE: "From a token of each row's piece to all of the column's.", TIMES: "The same, over its share."}
    for name, caption in captions.items():
        if name in result and {*result[name].dims} == {"layer", "head", "from_piece", "piece"}:
            array = result[name].sel(layer=layer, head=head, drop=True)
            array = array.dropna("from_piece", how="all").dropna("piece", how="all")
            text = f"Head {head_name(layer, head)}. {caption}"
            if array.size:
                yield Figure(f"{name}-head", "From piece to piece", matrix(array), text, name)
