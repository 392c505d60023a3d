"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

import xarray as xr
from torch import nn

from headscope import results
from headscope.corpora import Corpus
from headscope.encoding.masking import Masking
from headscope.models.prediction_heads import mark_adapted
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, Loading, ModelName
from headscope.ranges import Range
from headscope.studies.training.pretrain_head.text import HeldOutText, held_out_text
from headscope.studies.training.pretrain_head.variables import to_variables
from headscope.training import RunRecord, TrainedOutputs, TrainingRecipe
from headscope.training.beginning import RunEnvironment, run_environment
from headscope.training.initialisation import InitialModel, initial_masked_lm, set_for_training
from headscope.training.loop import MaskedExamples, dev_outputs, train
from headscope.training.piece_frequencies import log_frequencies, piece_counts, set_output_bias


def run(  # noqa: PLR0913 (each is an option of the command)
    checkpoint: ModelName,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    loading: Loading,
    encoder: Literal["trained", "frozen"] = "trained",
    held_out: Annotated[float, Range(0, 1)] = 0.1,
    batch: Annotated[int, Range(1, 1024)] = 16,
    epochs: Annotated[int, Range(1, 1000)] = 3,
    learning_rate: Annotated[float, Range(0, 10)] = 5e-4,
    warmup: Annotated[float, Range(0, 1)] = 0.1,
    weight_decay: Annotated[float, Range(0, 10)] = 0.01,
    dropout: Annotated[float, Range(0, 1)] = 0.0,
    precision: Literal["no", "bf16", "fp16"] = "no",
    max_tokens: Annotated[int, Range(1, 1_000_000)] = 128,
    mask_share: Annotated[float, Range(0, 1)] = 0.3,
    mask_token: Annotated[float, Range(0, 1)] = 0.8,
    mask_random: Annotated[float, Range(0, 1)] = 0.1,
    keep: Literal["best", "last"] = "last",
) -> xr.Dataset:
    """Train a masked-language head for an encoder on plain text, and score it on held-out text.

    `directory/model` is an ordinary Hugging Face folder (`AutoModelForMaskedLM`). Its configuration says that the head
    was trained afterwards, and so does every result of this model. An interrupted run continues from its last
    checkpoint and ends with the same weights; a completed run is not repeated.

    Masks are dynamic: each epoch chooses other tokens (Liu et al. 2019, section 4.1). The loss is computed at
    masked tokens alone. The bias of the output layer starts at the log frequencies of the pieces in the text.

    Arguments:

    * `checkpoint`: Name the encoder: a Hugging Face id, a folder, or minilm.
    * `corpus`: Train on this text.
    * `settings`: Set the seed, the batch size, the resamples, the progress, and what becomes of inputs of more
      than `max_tokens` tokens.
    * `directory`: Keep the run and the model in this folder.
    * `loading`: Set the device, the dtype, the revision and remote code of the encoder.
    * `encoder`: Train the encoder too, or leave it frozen and train the new weights alone.
    * `held_out`: Hold out this fraction of the examples, the last ones, and score on them.
    * `batch`: Train on this number of inputs in a step.
    * `epochs`: Train for this number of passes over the text.
    * `learning_rate`: Set the peak of the learning rate; an encoder of the size of BERT-base needs a lower one (1e-4).
    * `warmup`: Raise the learning rate during this fraction of the steps.
    * `weight_decay`: Set the weight decay of AdamW.
    * `dropout`: Drop this fraction of the states in training; a text that is read a few times needs none.
    * `precision`: Train in mixed precision: no, bf16 or fp16.
    * `max_tokens`: Cut inputs at this number of tokens.
    * `mask_share`: Mask this fraction of the tokens.
    * `mask_token`: Replace this fraction of the masked tokens by [MASK].
    * `mask_random`: Replace this fraction of the masked tokens by a random piece; the rest stay as they are.
    * `keep`: Keep the model of the last epoch, or of the epoch with the lowest loss on the held-out text.

    Raises `HeadscopeError` if the model has such a head already, its type has none in transformers, the corpus is too
    short, a loss is not finite, the disk is full, or the folder holds a run with other settings.
    """
    recipe = TrainingRecipe(
        batch=batch, epochs=epochs, learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay,
        precision=precision, max_tokens=max_tokens, keep=keep,
    )  # fmt: skip
    masking = Masking(share=mask_share, mask=mask_token, random=mask_random)
    environment = run_environment(checkpoint, directory, **loading)
    start = initial_masked_lm(
        environment.checkpoint, settings.seed, frozen=encoder == "frozen", remote_code=environment.remote_code
    )
    text = held_out_text(start.model, corpus, held_out, max_tokens, settings)
    frequencies = log_frequencies(piece_counts(text.train, start.tokenizer, start.network.config.vocab_size))
    set_output_bias(start.network, frequencies)
    mark_adapted(start.network.config, _note(environment, corpus, encoder, epochs))
    set_for_training(start.network, dropout, environment.device)
    nn.Module.to(start.network, environment.device)
    examples = text.examples(start.tokenizer, masking, settings.seed)
    record = RunRecord(environment.directory / "run")
    settled = {"encoder": encoder, "held_out": held_out, "dropout": dropout} | {
        f"mask_{name}": share for name, share in vars(masking).items()
    }
    record.open(_identity(environment, corpus, settings) | settled | recipe.as_settings(), settings.on_notice)
    before = dev_outputs(start.model, examples.outputs, settings)
    trained = _trained(start, examples, recipe, settings, record)
    variables = to_variables(before, trained, examples, frequencies, settings, [segment.unit for segment in text.dev])
    attributes = _attributes(start, environment, corpus, text, settings) | {
        "new_weights": ", ".join(start.new),
        "recipe": json.dumps(settled | recipe.as_settings()),
    }
    return results.check(variables.assign_attrs(attributes))


def _trained(
    start: InitialModel, examples: MaskedExamples, recipe: TrainingRecipe, settings: Settings, record: RunRecord
) -> TrainedOutputs:
    """The outputs of the run, which is done unless it was completed before; its model is beside its folder."""
    trained = record.completed()
    if trained is None:
        settings.on_total(recipe.epochs * -(-len(examples.train) // recipe.batch))
        trained = train(start, examples, recipe, settings, record)
    else:
        settings.on_total(0)
    record.move_model(record.folder.with_name("model"))
    return trained


def _note(environment: RunEnvironment, corpus: Corpus, encoder: str, epochs: int) -> str:
    """The note in the configuration of the trained model."""
    passes = "1 epoch" if epochs == 1 else f"{epochs} epochs"
    return (
        f"new, trained by headscope pretrain-head on {corpus.name} ({passes}, encoder {encoder}); "
        f"the encoder was {environment.checkpoint.name}"
    )


def _identity(environment: RunEnvironment, corpus: Corpus, settings: Settings) -> dict[str, Any]:
    """Model, corpus and seed of the run."""
    return {
        "model": environment.sha256,
        "corpus": f"{corpus.n_examples} examples of {corpus.sha256}",
        "seed": settings.seed,
        "long": settings.long,
    }


def _attributes(
    start: InitialModel, environment: RunEnvironment, corpus: Corpus, text: HeldOutText, settings: Settings
) -> dict[str, Any]:
    checkpoint = environment.checkpoint
    model = replace(start.model, name=checkpoint.name, revision=checkpoint.revision, sha256=environment.sha256)
    return provenance("pretrain_head", model, corpus, settings) | {
        "n_examples": len(text.train) + len(text.dev),
        "n_tokens": sum(map(len, [*text.train, *text.dev])),
        "skipped": json.dumps(dict(corpus.skipped) | dict(text.counts)),
    }
