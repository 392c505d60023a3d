"""A task's examples as model inputs, and the per-example outputs from which its metrics are computed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, TaskKind
from headscope.corpora.tasks.choices import by_choice
from headscope.corpora.tasks.task import OF_WORDS, refuse_items
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import IGNORED, masked
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.losses import collated, losses, refuse_non_finite
from headscope.outputs.passages import Passage, passage_inputs
from headscope.outputs.words.few_tokens import logits_together
from headscope.outputs.words.predicted_words import predicted_words
from headscope.passes.batches import collator

# The number of axes of logits: an output for each example, or for each of its tokens and all words.
AXES = {"classification": 2, "regression": 2, "choice": 2, "span": 0, "masked": 3, "words": 3}
# The score of a choice that an example does not have, where others have more.
NO_CHOICE = -1e9


@dataclass(frozen=True)
class TaskInputs:
    """The examples of a task's split, as inputs of a model.

    * `masked_pieces`: of a task of words, the piece that is predicted at each token, elsewhere `IGNORED`.
    * `cut`: how many examples of the corpus were left out, and how many inputs were cut to the model's length.
    * `characters`, `texts`: of inputs that predict words, see `PredictedWords`; nothing where each example is an input.
      Of choices `texts` are the numbers of their examples.
    * `passages`: of inputs whose answer is a span.
    """

    model: Model
    task: Task
    inputs: Sequence[Encoded]
    masked_pieces: Sequence[Int[np.ndarray, " token"]] = ()
    cut: Counter[str] = field(default_factory=Counter)
    characters: Sequence[int] = ()
    texts: Sequence[int] = ()
    passages: Sequence[Passage] = ()

    def by_example(self, outputs: Float[np.ndarray, "*variant input output"]) -> np.ndarray:
        """The outputs of each example, [*variant, example, output]: of words the sums over its inputs.

        Of choices they are the scores, a choice that an example does not have with `NO_CHOICE`.
        """
        if not self.texts:
            return outputs
        if self.task.kind == "choice":
            counts = np.bincount(self.texts)
            scores = np.full((*outputs.shape[:-2], len(counts), counts.max()), NO_CHOICE, outputs.dtype)
            scores[..., np.arange(counts.max()) < counts[:, None]] = outputs[..., 0]
            return scores
        return np.add.reduceat(outputs, np.flatnonzero(np.diff(self.texts, prepend=-1)), axis=-2)

    @cached_property
    def _collate(self) -> Callable[[list[Encoded]], Batch]:
        return collator(self.model)

    def batch(self, group: Sequence[Encoded]) -> "TaskBatch":
        """Some of the inputs as one batch on the model's device."""
        batch = self._collate(list(group))
        index: list[int] = batch.index.tolist()
        pieces = [self.masked_pieces[number] for number in index] if self.masked_pieces else None
        targets = None if pieces is None else collated(pieces, self.model.device)
        characters = torch.tensor([self.characters[number] for number in index]) if self.characters else None
        return TaskBatch(self.task.kind, self.model.name, batch.inputs, index, targets, characters)


@dataclass(frozen=True)
class TaskBatch:
    """Inputs of a task that go through the model together.

    * `targets`: predicted pieces, elsewhere `IGNORED`; None where the task is not one of words.
    * `characters`: of the predicted words.
    """

    kind: TaskKind
    model_name: str
    inputs: Mapping[str, Int[Tensor, "example token"]]
    index: list[int]
    targets: Int[Tensor, "example token"] | None = None
    characters: Int[Tensor, " example"] | None = None

    @property
    def rows(self) -> Int[Tensor, "example row"]:
        """The tokens that the task head reads: the first, or those that predict words (padded with other tokens)."""
        if self.targets is None:
            return torch.zeros(len(self.index), 1, dtype=torch.long, device=self.inputs["input_ids"].device)
        hidden = self.targets != IGNORED
        return hidden.long().argsort(dim=1, descending=True, stable=True)[:, : max(1, int(hidden.sum(1).max()))]

    def outputs(
        self, logits: Float[Tensor, "example ..."], rows: Int[Tensor, "example row"] | None = None
    ) -> Float[np.ndarray, "example output"]:
        """The numbers from which metrics are computed: logits (of `rows`), or the sum of losses and what they are of.

        Raises `HeadscopeError` if they are not finite, or the task head is one for another kind of task.
        """
        refuse_other_head(logits, self.kind, self.model_name)
        if self.targets is not None:
            targets = self.targets if rows is None else self.targets.gather(1, rows)
            sums = [losses(self.kind, logits, targets), (targets != IGNORED).sum(1)]
            sums += [] if self.characters is None else [self.characters.to(logits.device)]
            logits = torch.stack(sums, dim=1)
        refuse_non_finite(self.model_name, logits)
        return logits.to(torch.float32).cpu().numpy()


def refuse_other_head(logits: Float[Tensor, "example ..."], kind: TaskKind, model_name: str) -> None:
    """Raise `HeadscopeError` for logits of a task head for another kind of task."""
    if logits.ndim != AXES[kind]:
        expected, remedy = "one class or number for each example", "name a model for this task"
        if kind in OF_WORDS:
            expected = "words"
            remedy = "name its task with --task NAME --data FOLDER, or a model with a head for words"
        raise HeadscopeError(
            f"model '{model_name}' gives outputs of shape {tuple(logits.shape)}, not {expected}; {remedy}"
        )


def task_inputs(model: Model, task: Task, corpus: Corpus, seed: int = 0, max_tokens: int | None = None) -> TaskInputs:
    """The examples of one of a task's splits as inputs of a model; the seed selects the words that are masked.

    * `task`: with its labels in the order of the model's outputs (`tasks.aligned`).
    * `max_tokens`: longer inputs are cut; texts whose words are predicted are read in windows.

    Raises `HeadscopeError` if an example cannot be cut to fit, or the model predicts no words.
    """
    refuse_items(task)
    limit = min(max_tokens or model.max_tokens, model.max_tokens)
    if task.kind == "words":
        return _predicting(model, task, corpus, seed, limit)
    if task.kind == "span":
        inputs, passages, words = passage_inputs(model, corpus, limit)
        refuse_unfit(corpus, len(inputs), words)
        return TaskInputs(model, task, inputs, cut=Counter(corpus.skipped) + words.counts, passages=passages)
    pairs, texts = by_choice(corpus) if task.kind == "choice" else (corpus, [])
    inputs, cut = encode_for_task(model, pairs, limit)
    cut = Counter(corpus.skipped) + cut
    if task.kind != "masked":
        return TaskInputs(model, task, inputs, cut=cut, texts=texts)
    hidden, pieces = zip(*(masked(encoded, model.tokenizer, seed) for encoded in inputs), strict=True)
    return TaskInputs(model, task, hidden, pieces, cut)


def _predicting(model: Model, task: Task, corpus: Corpus, seed: int, limit: int) -> TaskInputs:
    """Inputs that predict the words of a split; long texts are read in windows whose logits fit into memory."""
    words = Words(model.tokenizer, min(limit, logits_together(model.network)), "window")
    predicted = predicted_words(model, words, corpus, seed)
    refuse_unfit(corpus, len(set(predicted.texts)), words)
    if not sum(int((pieces != IGNORED).sum()) for pieces in predicted.pieces):
        raise HeadscopeError(f"corpus '{corpus.name}' has no word to predict; name one of longer texts")
    cut = Counter(corpus.skipped) + words.counts
    return TaskInputs(
        model, task, predicted.inputs, predicted.pieces, cut, characters=predicted.characters, texts=predicted.texts
    )


def encode_for_task(model: Model, corpus: Corpus, max_tokens: int | None = None) -> tuple[list[Encoded], Counter[str]]:
    """Each example as one input, cut to `max_tokens` (at most the model's own limit), and the number of those cut.

    Raises `HeadscopeError` if an example cannot be cut: a task's score is over all of its examples.
    """
    limit = min(max_tokens or model.max_tokens, model.max_tokens)
    words = Words(model.tokenizer, limit, "truncate")
    inputs = list(words.encode(corpus))
    refuse_unfit(corpus, len(inputs), words)
    return inputs, words.counts


def refuse_unfit(corpus: Corpus, read: int, words: Words) -> None:
    """Raise `HeadscopeError` unless all examples of a corpus were read."""
    if read != corpus.n_examples:
        why = ", ".join(f"{count} {reason}" for reason, count in words.counts.items())
        raise HeadscopeError(
            f"corpus '{corpus.name}': {corpus.n_examples - read} of {corpus.n_examples} examples do not fit "
            f"into {words.max_tokens} tokens ({why}); shorten them or allow more tokens"
        )
