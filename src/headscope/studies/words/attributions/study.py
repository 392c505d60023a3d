"""Run the study: from its options to a labelled result."""

import json
from typing import Annotated, Literal

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import refuse_choices
from headscope.models import Model
from headscope.outputs.words.few_tokens import with_few_logits
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.studies.words.attributions.blanking import blank_token
from headscope.studies.words.attributions.explaining_pass import PASSES, Sample, explain_corpus, sample_of
from headscope.studies.words.attributions.integrated_gradients import MOST_POINTS
from headscope.studies.words.attributions.sample_sizes import BY_HEAD, SETS, SampleSizes, depth, of_two_minutes
from headscope.studies.words.attributions.targets import DISTANCES, target_of
from headscope.studies.words.attributions.variables import shown_inputs, to_variables

# Few enough inputs to score while a user waits.
FIRST_LOOK = 10


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    task: Task | None = None,
    scored: Annotated[int, Range(0, 100_000)] = 50,
    flow: Annotated[int, Range(0, 100_000)] = 20,
    blank: Literal["mask", "unknown", "hidden"] = "mask",
    pooling: Literal["model", "mean", "first"] = "model",
    shown: Annotated[int, Range(0, 100)] = 3,
    altered: Annotated[int, Range(0, 100_000)] = 50,
    tolerance: Annotated[float, Range(0, 1000)] = 0.01,
    full: bool = False,
) -> xr.Dataset:
    """Importance of input tokens for a target of the model by `attribution` (method) and `layer`; its faithfulness.

    The target is the probability of the predicted class (a classifier), of the word piece predicted at a masked token
    (a model of masked words) or at the end (a language model), a predicted number (a regression), or for a model
    without a head the representation of the text. Importance is that of the tokens of the input, read at the tokens
    of a layer that the target reads ([CLS], the mask, all tokens equally for a mean).

    * `attention`: attention of the layer, averaged over heads.
    * `norm`: length of what all heads move, |sum of a f(x)|; `norm_residual`: with residual connection and layer
      normalisation.
    * `value_zeroing`: cosine distance of the layer's output without the value of a token; of scored inputs alone.
    * `rollout`: product of attention, half of it residual, from the layer down to the input; `norm_rollout`,
      `value_zeroing_rollout`: the same of those maps, rows made to sum to 1; `flow`: maximum flow in the same graph.
    * `gradient_attention`: positive part of attention times its gradient, summed over heads and queries.
    * `value_gradient`: values times their gradient, summed over heads: attention times the gradient at what it moves.
    * `gradient_input`: the states that enter the layer times their gradient.
    * `integrated_gradients`: their difference from the states of a blank input, times the mean gradient on the straight
      path between the two; of scored inputs alone. They add up to the difference of the target.

    A sample of inputs is scored. Tokens are blanked in the order of importance, special tokens left out.
    `comprehensiveness` is the fall of the target without the most important tokens (high is good), `sufficiency` the
    fall with them alone (low is good); both are means over shares of 10, 20, 30, 50 and 70% of the tokens, points of
    `deletion` and `insertion`. `..._gain` compares with the mean of 5 random orders. `rank_correlation` is that with
    blank-out, the fall of the target without each single token. `best_layer` of a method is chosen on one half of the
    scored inputs, `chosen_...` are its scores on the other half.

    The attention of a sample is altered, and the output compared with that of the model's own: `altered_output` is how
    far it is (total variation of probabilities), `altered_decision` how often another class or word is predicted, and
    `altered_distance` how far attention is (Jensen-Shannon divergence, at most .69), by `alteration`: keys erased, the
    largest or random ones as many; weights permuted in each row; even weights; and `other`, the farthest attention of
    the same output that a search by gradient finds.

    Arguments:

    * `task`: Task of which `corpus` is a split, for a model with a classification head.
    * `scored`: Largest number of inputs to score, drawn by the seed. Each takes some 400 passes in six layers.
    * `flow`: Number of scored inputs of which flow is computed, of at most 64 tokens.
    * `blank`: Replacement of a blanked token: mask token, unknown token, or hidden from all tokens. Without a mask
      token, and in a causal model, tokens are hidden.
    * `pooling`: Representation of a text for a model without a head: as its modules of sentence-transformers make it,
      else the mean of the last states; or that mean, or the first state.
    * `shown`: Number of inputs to draw, of at most 24 tokens.
    * `altered`: Largest number of inputs, of at most 128 tokens, whose attention is altered; in up to ten of
      them heads are searched one by one, too, if time is left.
    * `tolerance`: Largest change at which an output counts as the same.
    * `full`: Score and alter as many inputs as asked, and each head of each altered input; by default as many as the
      built-in model takes in two minutes, a larger one in ten, and at least 2.

    Raises `HeadscopeError` if the layers of the model cannot be run one by one, or no example fits into the model.

    >>> from headscope import load, read
    >>> result = run(load("minilm"), read(["The cat sat on the mat.", "It rained."]), flow=0, altered=0)
    >>> result["comprehensiveness"].dims, result.attrs["target"].partition(" ")[0]
    (('attribution', 'layer'), 'cosine')
    """
    if task is not None:
        refuse_choices(task)
    token, target = blank_token(model, blank), target_of(model, pooling)
    attributes = provenance("attributions", model, corpus, settings)
    asked = SampleSizes(*(min(number, corpus.n_examples) for number in (scored, altered, altered)))
    sizes = asked if full else of_two_minutes(model, corpus, settings, asked.scored, asked.altered)
    sample = sample_of(corpus.n_examples, sizes.scored, flow, settings.seed, sizes.altered, sizes.by_head)
    attributes["read_in_part"] = _announce(settings, model, corpus.n_examples, sample, asked, sizes.points)
    # Gradients hold the logits of the copies of an input several times over.
    few = with_few_logits(settings, model.network, copies=2)
    result = explain_corpus(Pass(model, corpus, few), target, sample, token, tolerance, sizes.points)
    variables = to_variables(result.value, model.capture.heads, settings.seed, settings.resamples)
    attributes |= {
        "target": target.name,
        "blank": blank if token is not None else "hidden",
        "options": json.dumps({"scored": sizes.scored, "flow": flow, "pooling": pooling, "tolerance": tolerance}),
        "distance": DISTANCES[target.kind],
        "inputs": json.dumps(shown_inputs(result.value, shown)),
    }
    attributes |= {"task": task.name} if task else {}
    arrays = variables | result.coverage.variables()
    return results.check(xr.Dataset(arrays, attrs=attributes | result.attributes))


def _announce(settings: Settings, model: Model, inputs: int, sample: Sample, asked: SampleSizes, points: int) -> str:
    """Say what takes most of the time, before it starts; a scored input has many steps of the bar.

    * `points`: the most of a path of integrated gradients.

    Returns: what is left out of what was asked for.
    """
    few, many = (round(number * depth(model)) for number in (PASSES, SETS))
    scored, altered, heads = len(sample.scored), len(sample.altered), len(sample.by_head)
    settings.on_total(inputs + (0 if settings.in_parts else sample.steps * len(model.capture.heads)))
    left_out: list[str] = []
    if scored < asked.scored:
        times = asked.scored / scored
        left_out.append(
            f"{scored} of {asked.scored} inputs are scored, by some {few} to {many} passes each; --full scores all, "
            f"in some {times:.1f} times the time, for intervals {times**0.5:.1f} times as narrow"
        )
    elif scored > FIRST_LOOK:
        line = f"{scored} inputs are scored, by some {few} passes each; --scored {FIRST_LOOK} gives a first look"
        settings.on_notice(line)
    if altered < asked.altered or heads < min(BY_HEAD, asked.by_head):
        left_out.append(
            f"attention is altered in {altered} of {asked.altered} inputs, and head by head in {heads} of them; --full "
            "alters it in all, head by head, too"
        )
    if scored and points < MOST_POINTS:
        left_out.append(f"integrated gradients take {points} points in a layer or fewer; --full up to {MOST_POINTS}")
    for line in left_out:
        settings.on_notice(line)
    return "; ".join(left_out)
