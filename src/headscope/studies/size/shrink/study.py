"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from typing import Annotated, Any

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.pruned_folder import saved
from headscope.outputs.size_and_speed import megabytes
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import of_pass, provenance
from headscope.passes.settings import Directory, OwnTexts
from headscope.ranges import Range
from headscope.statistics.intervals import LEAST_DOCUMENTS
from headscope.storage.files import refuse_full, replace_folder
from headscope.studies.size.shrink import kept_kinds
from headscope.studies.size.shrink.distillation import distilled, examples_of
from headscope.studies.size.shrink.gate_training import found_by_gates
from headscope.studies.size.shrink.held_out import evidence, portable_beside
from headscope.studies.size.shrink.judge import Judge, judge_of
from headscope.studies.size.shrink.number_formats import ONNX, in_eight_bits, in_half_precision
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.plan import ShrinkOptions, ShrinkPlan, plan_of
from headscope.studies.size.shrink.prices import shapes_of
from headscope.studies.size.shrink.record import SearchRecord
from headscope.studies.size.shrink.saved_folder import notes, sizes_and_times
from headscope.studies.size.shrink.search import FoundSize, begun, found_steps
from headscope.studies.size.shrink.texts import corpus_read, judged_by, task_texts, text_facts
from headscope.studies.size.shrink.vocabulary import pieces_to_keep
from headscope.studies.size.shrink.word_loss import word_loss
from headscope.training.recipe import TrainingRecipe

FOLDER = ".headscope.shrink"
LEARNING_RATE = 5e-4


def run(
    model: Model,
    corpus: OwnTexts,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    task: Task | None = None,
    options: ShrinkOptions,
    heads_of: list[str] | None = None,
    tolerance: Annotated[float, Range(0, 1000)] | None = None,
) -> xr.Dataset:
    """Remove layers, neurons, heads and pieces step by step up to a target, train the rest on the whole model, save it.

    An encoder is judged by the embeddings of texts, a classifier by its own answers to them, unless these are all
    alike: a fifth of the texts scores. With a task its train split is searched on, or texts of your own, and its dev
    split scores. The saved model loads without code, and is of the same class unless its embeddings are narrower; with
    `fine` its layers differ, and other programs load it by the code in its folder.

    Arguments:

    * `model`: Make this model smaller.
    * `corpus`: Texts that it is used for. With a task they are read in the place of its train split, without regard to
      labels; its dev split stands for none.
    * `directory`: Save the smaller model in `model` of this folder.
    * `task`: Keep the outputs for this task, which the model was fine-tuned on.
    * `options`: What the smaller model has to reach, and how it is found.
    * `heads_of`: Compare the heads that stay with those that a result of profile, syntax, relations or patterns marks,
      in this folder; may be repeated. Needs heads that can go: `fine`, or a class with a width of heads.
    * `tolerance`: Test that the main score falls by less (default: 0.1 of similarities, 0.02 of a task). Without a task
      save no causal language model whose loss of a token rises by more, in nats.

    Returns: scores after each step and of the saved model, with intervals; what each removed part costs; and sizes and
    milliseconds in the attribute `shrinking`.

    Raises `HeadscopeError` for a target that no size reaches, a task without a train split and texts in its place, or
    a model that cannot lose any part.
    """
    model, task = judged_by(model, task, corpus, settings)
    plan = plan_of(model, options)
    epochs, best_effort = plan.epochs, plan.best_effort
    # The smaller model is no larger than the model; a checkpoint of its training has the state of AdamW, too.
    room = (4 if epochs else 1) * 1e6 * megabytes(model)
    refuse_full(directory, room, "the smaller model and its training take up to")
    task, texts = task_texts(model, corpus, task, settings)
    if len(texts.held_out) < LEAST_DOCUMENTS and not best_effort:
        raise HeadscopeError(
            f"corpus '{corpus.name}': its held-out texts, {len(texts.held_out)}, are too few to say what the smaller "
            f"model loses; give {5 * LEAST_DOCUMENTS} texts or more, or save it all the same with --best-effort"
        )
    judge = judge_of(model, task, texts, settings, tolerance)
    recipe = TrainingRecipe(epochs=max(epochs, 1), learning_rate=LEARNING_RATE, max_tokens=max(model.max_tokens, 8))
    training_steps = (epochs + plan.gate_epochs) * -(-len(judge.training) // recipe.batch)
    settings.on_total(plan.groups + training_steps + 1)

    measured = _measured(judge, plan)
    kinds = kept_kinds.kinds_of_heads(heads_of or [], measured)
    shapes = shapes_of([*map(len, judge.training)], model.max_tokens)
    folder = directory / FOLDER
    of_run = of_pass(model, corpus, settings) | plan.options() | {"task": task.name if task else ""}
    record = SearchRecord(folder / "search.json", of_run | {"shapes": str(shapes)}, settings.on_notice)
    search, stored = begun(measured, judge, plan, shapes, record)
    if plan.method == "gates" and not search.met(search.start):
        found = found_by_gates(search, record, recipe, best_effort=best_effort)
    else:
        found = FoundSize(search, found_steps(search, record, stored, best_effort=best_effort), measured, measured)
    settings.on_total(len(found.steps) + training_steps)

    last = found.steps[-1].size
    smaller = untrained = found.original.written(last)
    if epochs:
        examples = examples_of(judge, untrained, last.layers, measured.pieces)
        smaller = distilled(untrained, examples, recipe, folder / "training")
    judged = evidence(found, untrained, smaller)
    variables = judged.variables | word_loss(judge, smaller, refuse=not best_effort)
    facts = plan.options() | sizes_and_times(model, smaller, shapes, (measured.size, last), fine=plan.fine)
    facts |= judged.facts | found.facts | text_facts(corpus, task, texts)
    facts |= {"epochs": epochs, "examples": len(judge.training), "trained": smaller is not untrained}
    further = [portable_beside(found, record)] if plan.fine and plan.method != "gates" else []
    further += [in_eight_bits(judge, judged, smaller, shapes, folder / ONNX)] if plan.eight_bit else []
    further.append(in_half_precision(judge, judged, smaller, shapes))
    for arrays, of_form in further:
        variables, facts = variables | arrays, facts | of_form
    variables |= kept_kinds.variables(kinds, judged.stays, model.capture.heads)
    read = corpus_read(corpus, task)
    card = notes(xr.Dataset(variables, attrs={"corpus": read.described}), facts)
    head = task is not None or type(smaller.network).__name__.endswith("ForMaskedLM")
    written = saved(smaller, directory / "model", card, head=head)
    if plan.eight_bit:
        replace_folder(folder / ONNX, directory / "model" / ONNX)
    variables |= judged.reloaded(judge, written)
    record.remove()
    settings.on_progress(1)
    attributes = provenance("shrink", model, read, settings) | _attributes(judge, corpus, facts)
    return results.check(xr.Dataset(variables, attrs=attributes | {"shrunk_sha256": written.sha256}))


def _measured(judge: Judge, plan: ShrinkPlan) -> Original:
    """The whole model, what its parts add to the texts of the search, and the pieces that stay."""
    model, texts, inputs = judge.model, judge.texts, judge.training
    examples = [*texts.training, *texts.stopping]
    pieces = pieces_to_keep(model, [*inputs, *judge.stopping], plan.vocabulary, examples)
    original = original_of(model, inputs, judge.settings, plan.kinds, pieces, fine=plan.fine)
    # onnxruntime runs and quantises no map without any head or neuron
    return replace(original, least_heads=1, least_neurons=1) if plan.eight_bit else original


def _attributes(judge: Judge, corpus: Corpus, facts: dict[str, Any]) -> dict[str, Any]:
    """What the result says beside its variables."""
    task, inputs, documents = judge.task, judge.held_out, len(set(judge.texts.units))
    of_texts = f"{documents:,} documents" if corpus.by_document else corpus.resampled
    return {
        **({"task": task.name} if task else {}),
        "resampled": of_texts if task is None else task.dev.resampled,
        "shrinking": json.dumps(facts),
        "options": json.dumps({"method": facts["method"]}),
        "n_examples": len(inputs),
        "n_tokens": sum(map(len, inputs)),
        "skipped": json.dumps(dict(judge.texts.left_out)),
    }
