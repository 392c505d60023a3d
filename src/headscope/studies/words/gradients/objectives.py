"""Losses whose gradients say what attention is worth: of words, of a task, or of the embedding of a text.

The loss of an example depends on that example alone, so that nothing depends on how examples are batched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import refuse_choices, refuse_items
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import ALL_MASKED, IGNORED, masked, next_pieces
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import has_masked_lm_head, is_causal, refuse_without_words_head
from headscope.models.sentence_modules import SentenceModules, sentence_modules
from headscope.outputs.label_order import in_model_order
from headscope.outputs.losses import Target, log_probabilities, losses
from headscope.outputs.outputs import masked_logits
from headscope.outputs.task_inputs import refuse_other_head

MaskedClass = Literal["other", "original"]
# The loss of each example, and which examples have one.
Loss = tuple[Float[Tensor, " example"], Bool[Tensor, " example"]]
MASKED = "masked words: mean cross entropy of 15% of an example's tokens, which are masked (nats)"
NEXT = "next words: mean cross entropy of 15% of an example's tokens, each from those before it (nats)"
EMBEDDING = "sentence embedding: 1 - cosine of {} with and without 15% of the tokens masked"
MEAN, MODULES = "the mean of the last layer's states", "what its modules of sentence-transformers make"
TASK = {
    "classification": "task {}: cross entropy (nats)",
    "regression": "task {}: squared difference from the score",
    "masked": MASKED,
}


@dataclass(frozen=True)
class Objective:
    """Task of a model for each input, and its loss.

    * `name`: what it is, for a result.
    * `question`: makes of an input what the model is given, and the answer that is expected.
    * `loss`: of a network, a batch of such inputs and their collated answers.
    * `masks`: True if some tokens of an input are masked.
    """

    name: str
    question: Callable[[Encoded], tuple[Encoded, Target]]
    loss: Callable[[nn.Module, Batch, Tensor], Loss]
    masks: bool = True


def objective_of(
    model: Model, corpus: Corpus, task: Task | None = None, seed: int = 0, *, masked_class: MaskedClass = "other"
) -> Objective:
    """The loss of a task, if there is one; else of words, if the model has a head for them; else of embeddings.

    Causal models were never trained to read a mask: their words are the next ones, and nothing is masked.

    * `task`: of which `corpus` is one of the splits; the model has a head for it. One of words is the loss of words.
    * `seed`: of the words that are masked, or predicted.
    * `masked_class`: class of a masked token, "other" or that of the original token.

    Raises `HeadscopeError` if the model has no such head, an example has no label, there is no loss at all, or
    `masked_class` is "original" and no token is masked.
    """
    if task is not None and task.kind == "words":
        refuse_without_words_head(model)
        task = None
    if task is not None and task.kind != "masked":
        if masked_class != "other":
            raise HeadscopeError(
                f"masked class '{masked_class}': the loss of task '{task.name}' masks no token; use 'other'"
            )
        refuse_items(task)
        refuse_choices(task)
        return _of_task(model, corpus, task)
    if task is None and is_causal(model):
        return Objective(NEXT, partial(_next_words, model.tokenizer, seed), _words_loss, masks=False)
    if task is None and not model.looks_ahead:
        raise HeadscopeError(
            f"model '{model.name}' has no loss: it has no head for the next word, and a causal model reads no mask; "
            "name a model with its head, or a task with --task NAME --data FOLDER"
        )
    if not isinstance(model.tokenizer.mask_token_id, int):
        raise HeadscopeError(
            f"model '{model.name}' has no loss: its tokenizer has no mask; name a task with --task NAME --data FOLDER"
        )
    hide = _Hidden(model.tokenizer, seed, masked_class)
    if has_masked_lm_head(model.network):
        return Objective(MASKED, hide, _words_loss)
    if task is not None:
        raise HeadscopeError(f"model '{model.name}' has no head for masked words; name a model that has")
    modules = sentence_modules(model.network).direction
    words = MODULES if modules.layers or modules.pooling != ("mean",) else MEAN
    return Objective(EMBEDDING.format(words), hide, partial(_embedding_loss, model.name, modules))


@dataclass(frozen=True)
class _Hidden:
    """Masks some of an input's tokens, always the same ones."""

    tokenizer: PreTrainedTokenizerBase
    seed: int
    masked_class: MaskedClass

    def __call__(self, encoded: Encoded) -> tuple[Encoded, Target]:
        hidden, pieces = masked(encoded, self.tokenizer, self.seed)
        return replace(hidden, token_class=encoded.token_class) if self.masked_class == "original" else hidden, pieces


def _of_task(model: Model, corpus: Corpus, task: Task) -> Objective:
    task = in_model_order(task, model)
    targets: Mapping[str, float] = dict(
        zip((example.id for example in corpus), task.targets(corpus).tolist(), strict=True)
    )

    def question(encoded: Encoded) -> tuple[Encoded, Target]:
        assert encoded.example is not None
        return encoded, targets[encoded.example.id]

    def loss(network: nn.Module, batch: Batch, answers: Tensor) -> Loss:
        logits = network(**batch.inputs).logits
        refuse_other_head(logits, task.kind, model.name)
        return losses(task.kind, logits, answers), torch.ones(len(logits), dtype=torch.bool, device=logits.device)

    return Objective(TASK[task.kind].format(task.name), question, loss, masks=False)


def _next_words(tokenizer: PreTrainedTokenizerBase, seed: int, encoded: Encoded) -> tuple[Encoded, Target]:
    """An input as it is, and the piece that follows some of its tokens, always the same ones."""
    pieces = next_pieces(encoded, tokenizer)
    words = np.flatnonzero(pieces != IGNORED)
    number = max(1, round(ALL_MASKED.share * len(words)))
    pieces[np.random.default_rng([seed, encoded.index]).permutation(words)[number:]] = IGNORED
    return encoded, pieces


def _words_loss(network: nn.Module, batch: Batch, answers: Tensor) -> Loss:
    n_answers = (answers != IGNORED).sum(1)
    logits, pieces = masked_logits(network, batch.inputs, answers)
    example = (answers != IGNORED).nonzero()[:, 0].to(logits.device)
    sums = logits.new_zeros(len(answers)).index_add(0, example, -log_probabilities(logits, pieces).to(logits.dtype))
    return sums / n_answers.to(sums.device).clamp_min(1), n_answers > 0


def _embedding_loss(name: str, make: SentenceModules, network: nn.Module, batch: Batch, answers: Tensor) -> Loss:
    hidden = answers != IGNORED

    def embedding(ids: Tensor) -> Float[Tensor, "example width"]:
        states = getattr(network(**{**batch.inputs, "input_ids": ids}), "last_hidden_state", None)
        if states is None:
            raise HeadscopeError(f"model '{name}' has a task head, but no task is named; use --task NAME --data FOLDER")
        return make(states, batch.real)

    with torch.no_grad():
        embedded = embedding(torch.where(hidden, answers, batch.inputs["input_ids"]))
    return 1 - cosine_similarity(embedding(batch.inputs["input_ids"]), embedded, dim=-1), hidden.any(1)
