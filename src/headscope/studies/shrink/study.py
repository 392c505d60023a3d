"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.loading import device_of
from headscope.models.onnx import refuse_unexportable
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import of_pass, provenance
from headscope.passes.settings import Directory, OwnTexts
from headscope.ranges import Range
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.choices import by_method
from headscope.studies.shrink.evidence import facts_of
from headscope.studies.shrink.gate_search import gate_search, refuse_embeddings
from headscope.studies.shrink.goal import Goal, begun, unused_megabytes
from headscope.studies.shrink.judging import Judging, evidence, outcome_when_loaded
from headscope.studies.shrink.kept_kinds import kinds_of_heads
from headscope.studies.shrink.learning import Learning
from headscope.studies.shrink.losses import loss_weights
from headscope.studies.shrink.number_formats import other_formats, quantisable
from headscope.studies.shrink.plan import ShrinkPlan, plan_of
from headscope.studies.shrink.portable_beside import portable_beside
from headscope.studies.shrink.pseudo_labels import corpus_read, judged_by, labelled_splits
from headscope.studies.shrink.pseudo_labels import facts as facts_of_labels
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.report_card import notes
from headscope.studies.shrink.saved_folder import in_formats, refuse_bfloat16, written_folder
from headscope.studies.shrink.search import searched
from headscope.studies.shrink.sizes import original_of, with_narrow_embeddings
from headscope.studies.shrink.splits import Splits, encode
from headscope.studies.shrink.target import kinds, numbers
from headscope.studies.shrink.timing import Timing, shapes_of
from headscope.studies.shrink.vocabulary import pieces_to_keep
from headscope.training.recipe import TrainingRecipe

ABOUT = "size"
SURVEY = "training: headscope shrink MODEL TEXT"
EXAMPLE = "headscope shrink minilm texts.txt --speed 1.5x -o out/shrunk"
REQUIRED = ("path_score",)
WITHOUT = ("engine", "address", "gpus_per_worker")  # shared options that have no effect
FOLDER = ".headscope.shrink"
# Of the main metric: of similarities, and of a task.
TOLERANCES = {False: 0.1, True: 0.02}


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    corpus: OwnTexts,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    task: Task | None = None,
    pseudo_labels: bool = False,
    speed: str | None = None,
    size: str | None = None,
    method: Literal["estimate", "magnitude", "random", "gates"] = "estimate",
    gate_epochs: Annotated[int, Range(1, 1000)] = 4,
    fine: bool = False,
    heads_of: list[str] | None = None,
    parts: str | None = None,
    vocabulary: Annotated[float, Range(0, 1)] | None = None,
    max_tokens: Annotated[int, Range(3, 1_000_000)] | None = None,
    groups: Annotated[int, Range(2, 1000)] = 12,
    sample: Annotated[int, Range(1, 10_000)] = 128,
    ridge: Annotated[float, Range(0, 1000)] = 0.1,
    epochs: Annotated[int, Range(0, 1000)] = 4,
    learning_rate: Annotated[float, Range(0, 10)] = 5e-4,
    losses: str = "states=1,outputs=1",
    batches: str = "1,32",
    tokens: str = "",
    timed_on: str = "",
    tolerance: Annotated[float, Range(0, 1000)] | None = None,
    best_effort: bool = False,
    eight_bit: bool = False,
    bfloat16: bool = False,
) -> xr.Dataset:
    """Remove layers, neurons, heads and pieces step by step up to a target, train the rest on the whole model, save it.

    Without a task the model is judged by the embeddings of texts: a fifth of the texts scores. With a task its train
    split is searched on, or texts of your own, and its dev split scores. The saved model loads without code, and is of
    the same class unless its embeddings are narrower; with `fine` its layers differ, and other programs load it by the
    code in its folder.

    Arguments:

    * `model`: Make this model smaller.
    * `corpus`: Texts that it is used for. With a task they are read in the place of its train split, without regard to
      labels; its dev split stands for none.
    * `settings`: Set the seed, the batch size, the resamples, the progress, and the processes that share the search.
    * `directory`: Save the smaller model in `model` of this folder.
    * `task`: Keep the outputs for this task, which the model was fine-tuned on.
    * `pseudo_labels`: Keep the classes or scores that the model answers to texts without labels: they score, and there
      is no task.
    * `speed`: Be at least so many times as fast, such as 1.5x (the default without a target).
    * `size`: Have at most this size, such as 10MB or 60% (of a BERT the default beside 1.5x, without a target).
    * `method`: Choose parts by what they add (estimate), by the length of their weights (magnitude), at random, or by
      gates that are trained together with the model towards --speed or --size.
    * `gate_epochs`: Train gates for so many epochs.
    * `fine`: Let each layer keep its own numbers of heads and neurons, or none, instead of what an ordinary class can
      hold.
    * `heads_of`: Compare the heads that stay with those that a result of profile, syntax, relations or patterns marks,
      in this folder; may be repeated. Needs heads that can go: `fine`, or a class with a width of heads.
    * `parts`: Remove these parts alone, separated by commas: neurons, heads, layers; and embeddings, which makes a BERT
      with narrower embeddings an ALBERT (default: the first three, and of a BERT without a target all).
    * `vocabulary`: Keep at least this share of the vocabulary: pieces of the texts, then the most frequent; 1 for all
      (default: 0.6, and 1 with embeddings among the parts).
    * `max_tokens`: Cut the table of positions to inputs of so many tokens.
    * `groups`: Remove this fraction of a layer's neurons (with `fine` of its heads, too) in a step: one of so many.
    * `sample`: Measure parts on so many texts.
    * `ridge`: Draw fitted weights towards the old ones, as a share of the variance of neurons.
    * `epochs`: Train for so many epochs; 0 for no training.
    * `learning_rate`: Set the peak of the learning rate.
    * `losses`: Weigh the losses of the training: states and outputs of the whole model, relations between its tokens,
      and labels of the task (of texts of your own the model's answers); those that are not named count nothing.
    * `batches`: Time batches of so many inputs.
    * `tokens`: Time inputs of so many tokens; by default the median and the 95th percentile of the texts.
    * `timed_on`: Time models on this device, such as cpu for a model that is made on a GPU but used without one.
    * `tolerance`: Test that the main score falls by less (default: 0.1 of similarities, 0.02 of a task).
    * `best_effort`: Save the smallest model that was found, if none reaches the target.
    * `eight_bit`: Save the model also as ONNX files, in float32 and with weights of eight bits.
    * `bfloat16`: Save the model also with weights in bfloat16, for GPUs: `model-bfloat16` of this folder.

    Returns: `path_score[step, metric]` and its change, with intervals; what each removed part costs; and of the saved
    model `shrunk_score[metric]`, and its sizes and milliseconds in the attribute `shrinking`. `choice_score[choice]`
    has models of the saved size whose parts are chosen by the search, by the length of their weights, and at random.

    Raises `HeadscopeError` for a target that no size reaches, a task without a train split and texts in its place,
    texts that are all answered alike, or a model that cannot lose any part.
    """
    model, task = judged_by(model, task, corpus, pseudo_labels=pseudo_labels)
    plan = plan_of(model, speed, size, parts, vocabulary, method)
    wanted, parts, vocabulary = plan.target, plan.parts, plan.vocabulary
    _refuse(model, plan, method, eight_bit=eight_bit, bfloat16=bfloat16)
    timed_on = timed_on and str(device_of(timed_on))
    weights = loss_weights(losses, task)
    task, texts = labelled_splits(model, corpus, task, settings, max_tokens)
    answers, tolerance = answers_of(model, task), TOLERANCES[task is not None] if tolerance is None else tolerance
    training, stopping, held_out = (encode(model, some) for some in (texts.training, texts.stopping, texts.held_out))
    judging = Judging(model, answers, texts, stopping, held_out, tolerance, settings)
    recipe = TrainingRecipe(epochs=max(epochs, 1), learning_rate=learning_rate, max_tokens=max(model.max_tokens, 8))
    gated, by_epoch = method == "gates", -(-len(training) // recipe.batch)
    training_steps = (epochs + gated * gate_epochs) * by_epoch
    settings.on_total(groups + training_steps + 1)

    sizes = numbers("batches", batches, 1024), numbers("tokens", tokens, model.max_tokens)
    shapes = shapes_of([*map(len, training)], *sizes, model.max_tokens)
    timing, examples = Timing(shapes, timed_on), [*texts.training, *texts.stopping]
    pieces = pieces_to_keep(model, [*training, *stopping], vocabulary, examples)
    measured = original_of(model, training, settings, ridge, kinds(parts), fine=fine)
    measured = with_narrow_embeddings(quantisable(measured) if eight_bit else measured, training, pieces, max_tokens)
    of_kinds = kinds_of_heads(heads_of or [], measured)
    ordered = by_method(measured, method, settings.seed)
    options = {"target": wanted.words(), "groups": groups, "sample": sample, "ridge": ridge, "vocabulary": vocabulary}
    options |= {"max_tokens": max_tokens or 0, "shapes": str(shapes), "task": task.name if task else "", "parts": parts}
    options |= {"method": method, "timed_on": timed_on, "losses": losses} | ({"fine": True} if fine else {})
    options |= {"gate_epochs": gate_epochs} if gated else {}
    folder = directory / FOLDER
    record = SearchRecord(folder / "search.json", of_pass(model, corpus, settings) | options, settings.on_notice)
    goal = Goal(wanted, groups, unused_megabytes(ordered, pieces, max_tokens), best_effort)
    learning = Learning(judging, measured, weights, corpus, recipe, gate_epochs, folder)
    begin = begun(ordered, answers, training[:sample], timing, goal, record, settings)
    if gated:
        search = gate_search(*begin, goal, record, learning.gates)
    else:
        search = searched(*begin, record, best_effort=best_effort)
    settings.on_total(len(search.steps) + training_steps)

    last = search.steps[-1].size
    untrained = search.original(ordered).written(last, pieces, max_tokens)
    smaller = learning.rest(untrained, last, pieces) if epochs else untrained
    found = evidence(judging, search, measured, ordered, untrained, smaller)
    beside, known = portable_beside(judging, found, begin[0], last, record) if fine and not gated else ({}, {})
    half, onnx = in_formats(smaller, folder, head=task is not None, eight_bit=eight_bit, bfloat16=bfloat16)
    scored, formats = other_formats(judging, found, smaller, half, timing, onnx)
    facts = options | facts_of(model, smaller, timing, search.steps, epochs=epochs) | known | formats
    trained = {"examples": len(training), "trained": smaller is not untrained, "learned_from": weights.words(task)}
    facts |= found.facts | search.facts() | {"reached": search.reached} | trained | facts_of_labels(task, texts)
    variables = found.variables | (of_kinds.variables(found.stays) if of_kinds else {}) | beside | scored
    scored_on = {"corpus": corpus_read(corpus, task).described}
    text = notes(xr.Dataset(found.outcome.to_variables() | variables, attrs=scored_on), facts)
    written = written_folder(smaller, half, directory, text, onnx, head=task is not None)
    outcome = outcome_when_loaded(judging, found, written)
    record.remove()
    settings.on_progress(1)
    attributes = provenance("shrink", model, corpus_read(corpus, task), settings)
    attributes |= _attributes(corpus, task, texts, held_out, written, facts)
    return results.check(xr.Dataset(outcome.to_variables() | variables, attrs=attributes))


def _refuse(model: Model, plan: ShrinkPlan, method: str, *, eight_bit: bool, bfloat16: bool) -> None:
    """Refuse gates of embeddings, and a model that cannot be made smaller, or saved in the formats asked for."""
    refuse_embeddings(method, kinds(plan.parts))
    model.refuse_spread("made smaller")
    if eight_bit:
        refuse_unexportable(model)
    if bfloat16:
        refuse_bfloat16(model)


def _attributes(
    corpus: Corpus, task: Task | None, texts: Splits, held_out: Sequence[Encoded], saved: Model, facts: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """What the result says beside its variables."""
    return {
        **({"task": task.name} if task else {}),
        "resampled": (corpus if task is None else task.dev).resampled,
        "shrinking": json.dumps(facts),
        "options": json.dumps({"method": facts["method"]}),
        "shrunk_sha256": saved.sha256,
        "n_examples": len(held_out),
        "n_tokens": sum(map(len, held_out)),
        "skipped": json.dumps(dict(texts.left_out)),
    }
