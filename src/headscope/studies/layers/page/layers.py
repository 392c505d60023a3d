"""The scores of the probing classifiers in every layer."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import LayerNumber
from headscope.studies.layers.page.summary import tasks


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """The score of each task from the embeddings on; other cases than those of the score choose the layer."""
    first = with_interval(result, "score_embeddings").expand_dims(layer=[0])
    scores = xr.concat([first, with_interval(result, "score")], "layer")
    for task in tasks(result):
        array = scores.sel(task=task.name, drop=True)
        if bool(array.notnull().any()):
            yield LayerNumber("Probing classifiers", task.words, array, task.layer)
