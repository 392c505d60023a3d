"""Inputs in batches: sorted by length, under a budget of tokens."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from random import Random

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded, class_exists
from headscope.models import Model
from headscope.passes.settings import Settings

# Inputs are sorted within this many, so that a corpus of any size can be streamed.
WINDOW = 1024


def by_length(
    inputs: Iterable[Encoded], batch_tokens: int, seed: int = 0, *, pad_to: int = 0
) -> Iterator[list[Encoded]]:
    """Groups of inputs of similar length, each of at most `batch_tokens` tokens with padding (or a single input).

    `pad_to`: the length to which shorter inputs will be padded.

    Groups come in a seeded random order, so that the time left can be told from those that are done, and a
    run that is interrupted has not read the short inputs only.
    """
    inputs, random = iter(inputs), Random(seed)
    while window := sorted(islice(inputs, WINDOW), key=lambda encoded: (len(encoded), encoded.index)):
        groups = [[window[0]]]
        for encoded in window[1:]:
            if max(len(encoded), pad_to) * (len(groups[-1]) + 1) > batch_tokens:
                groups.append([])
            groups[-1].append(encoded)
        random.shuffle(groups)
        window = []  # else it would be held, and so would its groups, while the next window is read
        while groups:
            yield groups.pop()


def batches(model: Model, inputs: Iterable[Encoded], settings: Settings) -> Iterator[Batch]:
    """The inputs in batches for a model, on its device; groups as of `by_length`."""
    yield from map(collator(model), by_length(inputs, settings.batch_tokens, settings.seed))


def collator(model: Model, pad_to: int = 0) -> Callable[[list[Encoded]], Batch]:
    """A function from a group of inputs to a batch for a model, on its device; see `collate`."""
    pad = model.tokenizer.pad_token_id
    return partial(
        collate,
        pad=pad if isinstance(pad, int) else 0,
        class_exists=torch.tensor(class_exists(model.tokenizer), device=model.device),
        device=model.device,
        pad_to=pad_to,
    )


def collate(
    group: list[Encoded], *, pad: int, class_exists: list[bool] | Tensor, device: torch.device, pad_to: int = 0
) -> Batch:
    """One batch, padded on the right with the token `pad`, to the length of the longest or to `pad_to`."""
    length = max(pad_to, *map(len, group))

    def moved(shape: tuple[int, ...], fill: Callable[[np.ndarray], object]) -> torch.Tensor:
        # From other memory a transfer to a GPU would wait for all that it has to do.
        host = torch.empty(shape, dtype=torch.long, pin_memory=device.type == "cuda")
        fill(host.numpy())
        return host.to(device, non_blocking=True)

    def padded(arrays: list[np.ndarray], value: int) -> torch.Tensor:
        inside = np.arange(length) < np.fromiter(map(len, arrays), int, len(arrays))[:, None]
        if not inside.any():
            return torch.full(inside.shape, value, device=device)
        if inside.all():
            return moved(inside.shape, lambda rows: np.concatenate(arrays, out=rows.reshape(-1)))

        def fill(rows: np.ndarray) -> None:
            rows[...] = value
            rows[inside] = np.concatenate(arrays)

        return moved(inside.shape, fill)

    def rows(arrays: list[np.ndarray], width: int) -> torch.Tensor:
        sizes = np.fromiter(map(len, arrays), int, len(arrays))

        def fill(table: np.ndarray) -> None:  # [row, width]
            table[:, 0] = np.repeat(np.arange(len(arrays)), sizes)
            np.concatenate([array.reshape(-1, width - 1) for array in arrays], out=table[:, 1:])

        return moved((int(sizes.sum()), width), fill)

    token_class = padded([encoded.token_class for encoded in group], -1)
    inputs = {
        name: padded([encoded.inputs[name] for encoded in group], pad if name == "input_ids" else 0)
        for name in group[0].inputs
    }
    real = token_class >= 0
    examples = tuple(encoded.example for encoded in group if encoded.example is not None)
    return Batch(
        inputs | {"attention_mask": real.long()},
        torch.tensor([encoded.index for encoded in group]),
        real,
        token_class,
        torch.as_tensor(class_exists, device=device),
        rows([encoded.features for encoded in group], 3),
        rows([encoded.links for encoded in group], 4),
        (0, *np.cumsum([len(encoded.links) for encoded in group]).tolist()),
        torch.tensor([encoded.unit for encoded in group]),
        examples,
        rows([encoded.pieces for encoded in group], 3) if examples else None,
        rows([encoded.pair_words for encoded in group], 5),
        padded([encoded.upos for encoded in group], 0),
        padded([encoded.count for encoded in group], -1),
        padded([encoded.frequency for encoded in group], -1),
        padded([encoded.seen for encoded in group], -1),
        padded([encoded.predicted for encoded in group], -1),
        padded([encoded.predicted_class for encoded in group], -1),
    )


# What raises an error if a batch that was read is not to be used; it may wait for the device.
Check = Callable[[], None]
StateBatch = tuple[Batch, Float[Tensor, "space example token width"]]
