"""Published shares of attention to separators and to the previous token (Clark et al. 2019), beside a result."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.published import PublishedFigure
from headscope.report.published_attention import HALF, PAPER, PLOT, heads_above, most_of_layers
from headscope.report.wording import measured

CAPTION = (
    "BERT-base (uncased, 12 layers) on pairs of paragraphs of Wikipedia of 128 tokens, beside the same numbers of this "
    "model on this corpus. For repeated random tokens, planted pairs and copying no published figure of an encoder was "
    "found that could stand here."
)


def figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The layer with most attention to delimiters, and the heads that look at the previous token."""
    shares = measured(result, "sink_attention", focus="delimiter")
    if shares is not None:
        text = "largest mean attention of a layer to delimiters"
        yield PublishedFigure((text,), most_of_layers(shares), "0.575 (layer 9)", PLOT, "~")
    previous = measured(result, "natural_attention", relation="previous")
    if previous is not None:
        text = "heads with more than half of their attention to the previous token"
        yield PublishedFigure((text,), heads_above(previous, HALF), "4 heads, in layers 2, 4, 7, 8", PAPER, "P")
