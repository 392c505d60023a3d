"""Run the study: from its options to a labelled result."""

from typing import Literal

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.results.variables import PAIRED, Label, Variable, Variables, label
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.gradients.attention_gradients import MEASURES, correlation, gradients, relative
from headscope.studies.gradients.objectives import objective_of

ABOUT = "words"
NEEDS = "text"
COST = {"passes": 3.5}
# The backward pass holds all maps of a batch.
OPTIONS = {"batch_tokens": 1024}
REQUIRED = ("gradient",)
SOURCE = "Clark et al. 2019, section 3.2 (Figure 3)"
UNITS = "loss by unit of attention"
GRADIENT = Variable(
    name="gradient",
    long_name="size of the gradient of the loss by attention to each class of token",
    units=UNITS,
    source=SOURCE,
    coords={"token_class": TOKEN_CLASSES},
)
FROM = Variable(
    name="gradient_from",
    long_name="size of the gradient of the loss by attention from separators and from [CLS]",
    units=UNITS,
    source=SOURCE,
    coords={"query_group": ("sep", "cls"), "token_class": TOKEN_CLASSES},
)

LABELS = {
    "relative_gradient": Label(
        "gradient by attention to a class, by that to other tokens", "ratio", ("layer", "token_class")
    ),
    "rank_correlation": Label(
        "rank correlation over heads of attention to a class with its gradient",
        "Spearman correlation",
        ("token_class",),
    ),
}


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
    says which loss: of the task, if there is one; else of masked words, if the model has a head for them; else of the
    embedding of the text. All are losses of one example.

    * `gradient_from`: the same over separators, and over [CLS], as queries.
    * `relative_gradient[layer, token_class]`: the gradient by that of attention to other tokens, heads averaged. The
      paper finds that it falls for [SEP] where attention to [SEP] rises: such attention does nothing.
    * `rank_correlation[token_class]`: over heads, of attention to a class with its gradient (Spearman).
    * `attention_to`, `sep_to_sep`: attention of the same inputs, as in `profile`.

    Arguments:

    * `model`: Model to measure.
    * `corpus`: Examples to read.
    * `settings`: Seed, batch size, number of resamples, and progress.
    * `task`: Task of which `corpus` is a split; its loss is used. By default masked words, else the embedding of
      the text.
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
    result = gradients(Pass(model, corpus, settings, words), objective)
    tallies, heads = result.value, model.capture.heads
    variables = Variables({"token_class": TOKEN_CLASSES}, SOURCE, LABELS, **PAIRED)
    variables.arrays.update(label(GRADIENT, tallies["gradient"], heads) | label(FROM, tallies["gradient_from"], heads))
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
