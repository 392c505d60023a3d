"""The loss of the words of held-out texts, before and after: what similarities of texts do not say."""

from functools import partial

import numpy as np
import xarray as xr

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.read import OF_TEXT
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import number_of
from headscope.models import Model
from headscope.models.prediction_heads import is_causal, no_words
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.scores import of_task


def word_loss(judge: Judge, smaller: Model, *, refuse: bool) -> dict[str, xr.DataArray]:
    """The scores of the words of held-out texts by the whole model and the smaller one; none without a head for words.

    * `refuse`: whether the loss of a token of a language model may rise by no more than the tolerance, in nats.

    Raises `HeadscopeError` for a language model whose loss rises by more.
    """
    if judge.task is not None or no_words(judge.model):
        return {}
    held_out, seed = judge.texts.held_out, judge.settings.seed
    documents = {number_of(example.document) for example in held_out} - {number_of("")}
    corpus = Corpus("held-out texts", "", len(held_out), {}, partial(iter, held_out), n_documents=len(documents))
    task = Task(name="words", kind="words", metrics=OF_TEXT, dev=corpus)
    outputs = [
        task_outputs(task_inputs(model, task, corpus, seed), judge.settings.quiet) for model in (judge.model, smaller)
    ]
    scores = of_task(task, outputs, np.zeros(len(held_out)), seed, judge.settings.resamples)
    (before, after), (low, high) = scores.values[:, 0], scores.values[:, 1]
    if refuse and is_causal(judge.model) and not after - before <= judge.tolerance:
        raise HeadscopeError(
            f"model '{judge.model.name}': the loss of a token rises from {before:.2f} to {after:.2f} nats (perplexity "
            f"{low:.3g} to {high:.3g}), by more than {judge.tolerance:g}; ask for less (--speed, --size), use more "
            "--epochs, allow more (--tolerance), or save it with --best-effort"
        )
    added = Variables({"words_metric": OF_TEXT}, STUDY.source, STUDY.labels)
    for name, model in (("whole", 0), ("shrunk", 1)):
        added.add(f"{name}_words", scores.values[model], interval=scores.bounds[model], count=len(held_out))
    added.add("words_change", scores.changes[1], interval=scores.change_bounds[1], count=len(held_out))
    return added.arrays
