"""PredictedPieces of words at a few tokens: the head runs at these alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headscope.engine.finite_outputs import refuse_non_finite
from headscope.engine.words.inputs import PredictedPieces
from headscope.models import Model
from headscope.models.words_head import refuse_without_words_head

# Largest difference between the head at a few tokens and at all of them: rounding.
TOLERANCE = 1e-4


@dataclass
class WordPredictor:
    """Logits of a model over the vocabulary, at chosen tokens.

    The states of these tokens alone are passed to the head. At the start this is compared with the whole model; one
    whose head needs all tokens computes them all.

    Raises `HeadscopeError` for a model without a head for words.
    """

    model: Model
    few: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        refuse_without_words_head(self.model)
        self.few = self._is_exact()

    @torch.inference_mode()
    def logits(self, part: PredictedPieces) -> Float[Tensor, "read piece"]:
        """Logits at each read.

        Raises `HeadscopeError` if they are not finite.
        """
        device = self.model.device
        ids, row, place = (torch.from_numpy(each).to(device) for each in (part.ids, part.row, part.place))
        logits = (self._few if self.few else self._whole)(ids, row, place)
        refuse_non_finite(self.model.name, logits)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def _whole(self, ids: Int[Tensor, "row token"], row: Tensor, place: Tensor) -> Float[Tensor, "read piece"]:
        return self._outputs(ids)[row, place]

    def _few(self, ids: Int[Tensor, "row token"], row: Tensor, place: Tensor) -> Float[Tensor, "read piece"]:
        network: Any = self.model.network
        with chosen_states(network.base_model, lambda states: states[row, place][None]):
            return self._outputs(ids)[0]

    def _outputs(self, ids: Int[Tensor, "row token"]) -> Float[Tensor, "row token piece"]:
        network: Any = self.model.network
        return network(input_ids=ids).logits

    def _is_exact(self) -> bool:
        """Whether the head gives the same at a few tokens as at all."""
        vocabulary = self.model.tokenizer.get_vocab().values()
        ids = torch.tensor(sorted(vocabulary)[-8:], device=self.model.device).repeat(8)[:8].reshape(2, 4)
        row, place = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 3])
        with torch.inference_mode():
            whole = self._whole(ids, row, place)
            try:
                few = self._few(ids, row, place)
            except (RuntimeError, AttributeError, LookupError, TypeError, ValueError):
                return False
        return few.shape == whole.shape and bool((few - whole).abs().max() < TOLERANCE)


@contextmanager
def chosen_states(base: nn.Module, choose: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within this context the last hidden states of the base model are replaced by those that are chosen."""

    def replaced(module: nn.Module, args: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (choose(output[0]), *output[1:])
        output["last_hidden_state"] = choose(output["last_hidden_state"])
        return output

    handle = base.register_forward_hook(replaced)
    try:
        yield
    finally:
        handle.remove()
