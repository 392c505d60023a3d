"""What a model is used for: the embeddings of texts, or the outputs of its task head; and by how much they change."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float
from torch import Tensor

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model
from headscope.outputs.onnx_outputs import first_output
from headscope.outputs.outputs import in_order
from headscope.passes.batches import collator
from headscope.passes.settings import Settings
from headscope.studies.shrink.scores import Outputs, Scores

# So many examples that are answered otherwise are kept, and so many letters of each text.
SHOWN, LETTERS = 10, 200
Rows = list[dict[str, Any]]


class Answers(Protocol):
    """How a model answers texts, and what it loses: by `Embeddings`, or for a task by `TaskAnswers`.

    * `task`: None for embeddings; `classes`: whether an answer is one of some classes.
    * `unit`: of what an input may lose; `tolerance`: what the main score may lose, unless it is given.
    """

    @property
    def task(self) -> Task | None: ...
    @property
    def classes(self) -> bool: ...
    @property
    def unit(self) -> str: ...
    @property
    def tolerance(self) -> float: ...

    def answering(self, model: Model) -> Model:
        """The model that is exported to answer."""
        ...

    def of(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The outputs of a model for inputs that are numbered from 0."""
        ...

    def from_first(self, output: Tensor, real: Tensor) -> Tensor:
        """The outputs by the first output of the file of a model that `answering` returned."""
        ...

    def learned(self, output: Any, real: Tensor) -> Tensor:
        """The outputs by what a network in training returns, its hidden states with it."""
        ...

    def scores(self, outputs: Sequence[Outputs], units: Sequence[int], settings: Settings) -> Scores:
        """Held-out scores of several models, the whole one first.

        * `units`: the number of what is resampled as a whole, for each example.
        """
        ...

    def gains(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings
    ) -> Float[np.ndarray, "model 3"]:
        """Gain of the main metric by each model, below 0 where it is worse, with its interval."""
        ...

    def last_gain(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings
    ) -> Float[np.ndarray, " 3"]:
        """Gain of the main metric by the last model beside the one before it."""
        ...

    def losses(self, before: Outputs, after: Outputs, seed: int) -> Float[np.ndarray, " example"]:
        """What each held-out input loses, below 0 for a gain."""
        ...

    def changed(self, examples: Sequence[Example], before: Outputs, after: Outputs, seed: int) -> Rows:
        """The examples whose answers changed furthest: their texts, labels if they have some, and both answers."""
        ...


def file_answers(
    answers: Answers, session: Any, model: Model, inputs: Sequence[Encoded], settings: Settings
) -> Outputs:
    """The outputs of the ONNX file of a model that `answering` returned."""
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Outputs:
        batch = collate(group)
        # onnxruntime answers on the processor, wherever the model is
        return answers.from_first(first_output(session, batch.inputs), batch.real.cpu()).numpy()

    return in_order(model.network, inputs, outputs, quiet(settings))


def quiet(settings: Settings) -> Settings:
    """The settings without progress."""
    silent: Callable[[int], None] = lambda done: None  # noqa: E731
    return replace(settings, on_progress=silent)


def change(before: Outputs, after: Outputs) -> float:
    """Squared change of outputs by their squared distance from their mean: 0 for none, 1 for all that differs.

    >>> change(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]))
    0.5
    """
    size = float(((before - before.mean(0)) ** 2).sum(dtype=np.float64))
    moved = float(((after - before) ** 2).sum(dtype=np.float64))
    return moved / size if size else float(moved > 0)


def text_of(example: Example) -> str:
    """The text of an example, two segments with a bar between them; of a long one its beginning."""
    text = " | ".join(map(segment_text, example.segments))
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"
