"""What Clark et al. (2019, section 3.2) say of attention to separators and of its gradients, beside a result."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.published import PublishedFigure
from headscope.report.published_attention import PAPER, separator_figures
from headscope.report.wording import measured, of_array
from headscope.studies.gradients.page.findings import LITTLE

CAPTION = (
    "BERT-base (uncased, 12 layers) on pairs of paragraphs of Wikipedia of 128 tokens, beside the same numbers of this "
    f"model on this corpus. Small: below {LITTLE} of the gradient by attention to other tokens; the paper has no limit "
    "and reads it off a figure."
)


def figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The layer from which on gradients of separators are small, then the attention of the same inputs."""
    relative = measured(result, "relative_gradient", token_class="sep")
    if relative is not None:
        text = "layer from which on the gradient by attention to separators is small"
        yield PublishedFigure((text,), (small_from(relative), ""), "layer 5", PAPER, "P")
    yield from separator_figures(result)


def small_from(relative: xr.DataArray) -> str:
    """The first of the last layers that are all below the limit, in words; relative gradients [layer]."""
    first = ""
    for layer in reversed(relative.dropna("layer")["layer"].values.tolist()):
        if not of_array(relative.sel(layer=layer)).value < LITTLE:
            break
        first = f"layer {layer}"
    return first or "none"
