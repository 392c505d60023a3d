"""A result in a notebook: main findings, atlas and data set as the output of a cell, and the chart of one variable."""

from typing import Any

import xarray as xr
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from headscope import results
from headscope.errors import HeadscopeError, suggest
from headscope.figures import with_interval
from headscope.figures.labels import label, special_tokens
from headscope.figures.tidy import HEADS
from headscope.report.atlas import atlas_of
from headscope.report.default_parts import chart, titled
from headscope.report.facts import described
from headscope.report.kinds import COLOURS
from headscope.report.parts import Figure
from headscope.report.render import TEMPLATES, fragment
from headscope.report.study_page import study_page


def dataset_html(dataset: xr.Dataset) -> str:
    """A data set as HTML for a notebook: a whole result of headscope as `result_html`, others as xarray shows them."""
    try:
        return result_html(dataset)
    except Exception:  # an output of a cell never fails: xarray shows every data set
        return dataset._repr_html_()


def result_html(result: xr.Dataset) -> str:
    """A result as HTML without scripts, for the output of a cell: nothing is fetched, all text of a result is escaped.

    Raises `ValueError` if the data set is not a whole result.
    """
    page = study_page(results.check(result))
    with special_tokens(result.attrs):
        facts = described(result)
    return fragment(
        "notebook.html",
        **facts,
        by_head={"layer", "head"} <= set(result.dims),
        highlights=page.highlights(),
        findings=page.findings(),
        atlas=atlas_of(result),
        colours=COLOURS,
        style=(TEMPLATES / "notebook.css").read_text(encoding="utf-8"),
        dataset=Markup(result._repr_html_()),  # xarray escapes it
    )


def plot(result: xr.Dataset | xr.DataArray, name: str | None = None, **labels: Any) -> Any:
    """The Altair chart of a variable: the figure of the report, or a chart that its dimensions suggest.

    Without a figure in the report, a variable of heads is a heat map of layers by heads; others are bars.

    * `result`: a result, or one variable of it, as in `plot(result["entropy"])`.
    * `name`: a variable, such as "entropy"; a figure of the report, such as "entropy-by_layer"; or "atlas".
    * `labels`: one label of a dimension, such as `relation="nsubj"`, or `token_class="[CLS]"` as pages write it:
      the chart shows this label alone.

    Raises `HeadscopeError` if there is no such variable, figure or label, or if the variable has more dimensions than
    a chart can show.

    >>> score = xr.DataArray([[0.5, 0.25]], {"layer": [1], "head": [1, 2]}, name="score")
    >>> plot(score.to_dataset().assign_attrs(study="mine"), "score").mark.type
    'rect'
    """
    if isinstance(result, xr.DataArray):
        return _by_dimensions(_selected(result, labels))
    page = study_page(result)
    if name is None:
        names = suggest("", [*results.means(result), *(figure.name for figure in page.figures())])
        raise HeadscopeError(f"plot needs the name of a variable or a figure, as in plot(result, 'entropy'); {names}")
    figures = {} if labels else {figure.name: figure for figure in [*page.figures(), *_atlas(result, name)]}
    shown = [figure for figure in figures.values() if figure.variable == name]
    for figure in [figures[name]] if name in figures else shown[:1]:
        return figure.chart
    if name not in result.data_vars:
        names = [*results.means(result), *figures]
        raise HeadscopeError(f"the result has no variable or figure '{name}'; {suggest(name, names)}")
    return _by_dimensions(_selected(with_interval(result, name), labels))


def _atlas(result: xr.Dataset, name: str) -> list[Figure]:
    """The atlas as a figure, where it is asked for and the result has one."""
    atlas = atlas_of(result) if name == "atlas" else None
    return [atlas.figure()] if atlas else []


def _selected(array: xr.DataArray, labels: dict[str, Any]) -> xr.DataArray:
    """The part of an array with the labels, which its title names."""
    for dim, value in labels.items():
        if dim not in array.dims:
            dims = suggest(dim, map(str, array.dims))
            raise HeadscopeError(f"variable '{array.name}' has no dimension '{dim}'; {dims}")
        values = array[dim].values.tolist()
        value = next((name for name in values if label(dim, name) == value), value)
        if value not in values:
            raise HeadscopeError(f"dimension '{dim}' has no label {value!r}; {suggest(str(value), map(str, values))}")
        words = f"{dim} {value}" if dim in HEADS else label(dim, value)
        array = titled(array.sel({dim: value}), words)
    return array


def _by_dimensions(array: xr.DataArray) -> Any:
    """The chart that the dimensions suggest."""
    if not array.ndim or array.dtype.kind not in "fiu" or bool(array.isnull().all()):
        raise HeadscopeError(f"variable '{array.name}' has no numbers to draw; print result['{array.name}']")
    with debug_mode(False):  # as in a report: the check of each part against the schema is half of the time
        drawn = chart(array)
    if drawn is None:
        example = f"{array.dims[-1]}={array[array.dims[-1]].values.tolist()[0]!r}"
        raise HeadscopeError(
            f"variable '{array.name}' has too many dimensions {array.dims}; select a label, e.g. "
            f"plot(result, '{array.name}', {example})"
        )
    return drawn
