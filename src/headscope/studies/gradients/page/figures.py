"""Figures of `gradients`: gradients by attention, and the attention itself (Clark et al. 2019, Figure 3)."""

from collections.abc import Callable, Iterator
from typing import Any

import xarray as xr

from headscope.figures import by_layer, heatmap, scatter, with_interval
from headscope.figures.labels import label
from headscope.report.parts import Figure, LayerNumber
from headscope.report.wording import measured

Draw = Callable[[xr.DataArray], Any]
BY_CLASS, BESIDE, FROM = "Gradient by attention", "Beside the attention", "By kind of query"
DOTS = "A dot for each head, a line for the layer's mean."


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result, without those whose values are all missing."""
    drawn = [*_by_class(result), *_beside(result), *_from(result)]
    return [figure for figure in drawn if figure is not None]


def _by_class(result: xr.Dataset) -> Iterator[Figure | None]:
    loss = str(result.attrs["loss"]).partition(":")[0]
    caption = f"The loss: {loss}. {DOTS} After Clark et al. (2019), Figure 3."
    yield _figure(result, "gradient", "by_layer", BY_CLASS, caption, by_layer)
    yield _figure(
        result, "gradient", "heads", BY_CLASS, "The same, head by head; each panel has its own colours.", _panels
    )


def _beside(result: xr.Dataset) -> Iterator[Figure | None]:
    caption = f"Attention of the same inputs. {DOTS} After Clark et al. (2019), Figure 2."
    yield _figure(result, "attention_to", "by_layer", BESIDE, caption, by_layer)
    for name in ("sep", "cls"):
        yield _scattered(result, name)


def _from(result: xr.Dataset) -> Iterator[Figure | None]:
    for group in result["query_group"].values.tolist():
        caption = f"The same as above for one kind of query: {label('token_class', group)}. {DOTS}"
        array = with_interval(result, "gradient_from").sel(query_group=group, drop=True)
        words = f"{array.attrs['long_name'].partition(' from ')[0]}, from {label('token_class', group)}"
        yield _without_missing(array.assign_attrs(long_name=words), f"gradient_from-{group}", FROM, caption, by_layer)


def _panels(array: xr.DataArray) -> Any:
    return heatmap(array, shared=False, columns=2)


def _figure(result: xr.Dataset, name: str, stem: str, section: str, caption: str, draw: Draw) -> Figure | None:
    return _without_missing(with_interval(result, name), f"{name}-{stem}", section, caption, draw)


def _without_missing(array: xr.DataArray, name: str, section: str, caption: str, draw: Draw) -> Figure | None:
    """The figure without classes that the tokenizer does not have; None if no class is left."""
    array = array.dropna("token_class", how="all")
    return Figure(name, section, draw(array), caption, str(array.name)) if array.size else None


def _scattered(result: xr.Dataset, name: str) -> Figure | None:
    """Each head's attention to a class and its gradient."""
    both = [result[variable].sel(token_class=name, drop=True) for variable in ("attention_to", "gradient")]
    if any(bool(array.isnull().all()) for array in both):
        return None
    words = label("token_class", name)
    array = xr.concat(both, xr.Variable("axis", [1, 2]), coords="minimal", compat="override")
    array = array.rename("gradient").assign_attrs(long_name=f"attention to {words} and its gradient", units="")
    caption = (
        "A dot for each head. A head on the lower right attends much to the token, but the loss hardly depends on it."
    )
    chart = scatter(array.transpose("layer", "head", "axis"), titles=(f"Attention to {words}", "Gradient"))
    return Figure(f"worth-{name}", BESIDE, chart, caption, "gradient")


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """The gradient by attention to other tokens, the mean over the heads of each layer, which has no interval."""
    array = measured(result, "gradient", token_class="other")
    if array is not None:
        means = array.mean("head", keep_attrs=True).drop_vars("token_class", errors="ignore")
        words = "Gradient of attention to other tokens"
        yield LayerNumber("What the loss depends on", words, means, is_share=False, is_needed=True)
