"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from itertools import product
from typing import Any

import xarray as xr

from headscope import results
from headscope.models import wrap
from headscope.models.tokenizer import load_tokenizer
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, Documents, Loading, TokenizerName
from headscope.studies.training.pretrain.plan import PretrainingPlan, Schedule
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.stages import refuse_few_epochs
from headscope.studies.training.pretrain.text import lab_text
from headscope.studies.training.pretrain.variables import to_variables
from headscope.training.beginning import run_environment
from headscope.training.parallel import do_trainings, open_training
from headscope.training.piece_frequencies import unigram_outputs


def run(
    corpus: Documents,
    settings: Settings = DEFAULTS,
    *,
    vocabulary: TokenizerName = "minilm",
    directory: Directory,
    loading: Loading,
    plan: PretrainingPlan,
    schedule: Schedule,
) -> xr.Dataset:
    """Train small BERTs from random weights on plain text, in several ways and with several seeds, and compare them.

    `directory/models/WAY-SEED` are ordinary Hugging Face folders, which all studies read. An interrupted run continues
    from the last checkpoints and ends with the same weights; a completed training is not repeated.

    Arguments:

    * `corpus`: Train on this text; a part of it is held out.
    * `settings`: Set the first seed, the batch size for held-out inputs, the resamples, the progress, and how many
      trainings are done side by side.
    * `vocabulary`: Cut the text into pieces as this model does; its vocabulary is cut to those that the text has.
    * `directory`: Keep the trainings and the models in this folder.
    * `loading`: Set the device, and the revision and remote code of the tokenizer's model.
    * `plan`: Train these models.
    * `schedule`: Train each of them so.

    Raises `HeadscopeError` for an unknown way or a shape that is none, if the text is too short, the tokenizer has no
    mask, a loss is not finite, the disk is full, or the folder holds trainings with other settings.
    """
    models = plan.models
    refuse_few_epochs(plan.names, schedule.epochs)
    environment = run_environment(vocabulary, directory, **loading)
    pieces = load_tokenizer(environment.checkpoint, remote_code=environment.remote_code)
    text = lab_text(pieces, corpus, plan, schedule.max_tokens, settings.seed)
    text_settings = {
        "corpus": f"{corpus.n_examples} examples of {corpus.sha256}",
        "held_out": plan.held_out,
        "pieces": plan.pieces,
        "shuffle": plan.shuffle,
    }
    seeds = range(settings.seed, settings.seed + plan.seeds)
    parts = {model.share: text.part(model.share) for model in models}
    planned = [
        PretrainingRun(
            *(model, seed, schedule.recipe, parts[model.share], text_settings, environment.directory, settings.seed),
            keep_steps=plan.keep_steps,
        )
        for model, seed in product(models, seeds)
    ]
    for training in planned:
        open_training(training, environment, settings)
    settings.on_total(sum(training.steps for training in planned if not training.record.completed()))
    do_trainings(planned, lambda training, begun: training.result(environment, begun), environment, settings)
    if settings.engine is not None:
        for training in planned:
            training.record.refuse_missing()
    by_way = {model.label: [training for training in planned if training.planned == model] for model in models}
    variables = to_variables(
        {way: [training.result(environment, settings) for training in runs] for way, runs in by_way.items()},
        {way: [training.record.heads() for training in runs] for way, runs in by_way.items()},
        {way: unigram_outputs(runs[0].examples.pieces, runs[0].text.frequencies) for way, runs in by_way.items()},
        [encoded.unit for encoded in text.dev],
        settings,
    )
    attributes = _attributes(planned, corpus, settings, environment.sha256) | {
        "tokenizer_of": environment.checkpoint.name,
        "recipe": json.dumps(
            {"shapes": plan.shapes, "amount": plan.amount, "masked": plan.masked, "seeds": plan.seeds}
            | {"stacked": plan.stacked}
            | text_settings
            | schedule.recipe.as_settings()
        ),
    }
    return results.check(variables.assign_attrs(attributes))


def _attributes(runs: list[PretrainingRun], corpus: Documents, settings: Settings, sha256: str) -> dict[str, Any]:
    start, text = runs[0].start(), runs[0].text
    name = f"{', '.join(dict.fromkeys(str(run.planned.shape) for run in runs))}: trained from random weights"
    model = replace(wrap(start.network, start.tokenizer), name=name, sha256=sha256)
    return provenance("pretrain", model, corpus, settings) | {
        "n_examples": len(text.train) + len(text.dev),
        "n_tokens": sum(map(len, text.train)) + sum(map(len, text.dev)),
    }
