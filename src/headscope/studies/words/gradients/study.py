"""Run the study: from its options to a labelled result."""

from typing import Literal

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.outputs.words.few_tokens import with_few_logits
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.results.variables import PAIRED, Variables, label
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.words.gradients import STUDY
from headscope.studies.words.gradients.attention_gradients import MEASURES, correlation, gradients, relative
from headscope.studies.words.gradients.objectives import objective_of

COORDS = {"token_class": TOKEN_CLASSES, "query_group": ("sep", "cls")}


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    task: Task | None = None,
    masked_class: Literal["other", "original"] = "other",
) -> xr.Dataset:
    """`gradient[layer, head, token_class]`: the mean of |dLoss/dA[i, j]| over the weights of each class of keys j.

    It is taken over all queries and the keys of the class in an example, then over examples. The attribute `loss`
    says which loss: of the task, if there is one; else of masked words or of the next ones, if the model has a head for
    them; else of the embedding of the text. All are losses of one example.

    The paper finds that the gradient of [SEP] falls where attention to [SEP] rises: such attention does nothing.

    Arguments:

    * `task`: Task of which `corpus` is a split; its loss is used. By default masked words, or next words in a causal
      model, else the embedding of the text.
    * `masked_class`: Class of a masked token: other, since the model cannot see what is behind the mask, or that of the
      original token.

    Raises `HeadscopeError` if the model has no loss, a loss is not finite, no example fits into the model, or
    `masked_class` is "original" and the task masks no token.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=2)))
    >>> result["gradient"].dims, result.attrs["loss"].partition(":")[0]
    (('layer', 'head', 'token_class'), 'sentence embedding')
    """
    objective = objective_of(model, corpus, task, settings.seed, masked_class=masked_class)
    attributes = provenance("gradients", model, corpus, settings)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=task is not None)
    # The backward pass holds the logits several times over, and all states.
    result = gradients(Pass(model, corpus, with_few_logits(settings, model.network), words), objective)
    tallies, heads = result.value, model.capture.heads
    variables = Variables(COORDS, STUDY.source, STUDY.labels, **PAIRED)
    for name in ("gradient", "gradient_from"):
        variables.add_tally(name, tallies[name], heads)
    values, bounds = relative(tallies["gradient"], heads)
    variables.add("relative_gradient", values, interval=bounds, count=result.coverage.inputs)
    values, bounds = correlation(tallies["attention_to"], tallies["gradient"])
    variables.add("rank_correlation", values, interval=bounds, count=result.coverage.inputs)
    for name in MEASURES:
        variables.arrays.update(label(catalog.load("measures", name).VARIABLE, tallies[name], heads))
    attributes |= {"loss": objective.name} | ({"task": task.name} if task else {})
    attributes |= {"masked_class": masked_class} if objective.masks else {}
    arrays = variables.arrays | result.coverage.variables()
    return results.check(xr.Dataset(arrays, attrs=attributes | result.attributes))
