"""The parts of a sweep: the outputs of a batch with all heads, then with the heads of each of its variants disabled."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float

from headscope.ablation.strategies import Strategy, SweptInputs, Variants
from headscope.capture.interventions import Mode
from headscope.cluster.channel import Json, TaskChannel, Tasks
from headscope.encoding.encoded import Encoded
from headscope.passes.accumulators import listed
from headscope.passes.batches import by_length
from headscope.passes.coverage import Coverage
from headscope.passes.provenance import of_machine, of_model
from headscope.passes.read_parts import parts_by_workers
from headscope.passes.settings import Settings
from headscope.passes.shards import Fold, ReadShards
from headscope.storage.codec import encode
from headscope.storage.hashes import Fingerprint, hash_of


@dataclass(frozen=True)
class Swept:
    """The outputs of a batch with all heads (one variant), or with some variants; and the name of the strategy."""

    outputs: Float[np.ndarray, "variant example output"]
    strategy: str


Part = ReadShards[list[Swept]]


@dataclass
class SweptParts:
    """Reads the outputs of inputs batch by batch, and of each batch variants by variants.

    * `variants`: those that follow the outputs with all heads.
    * `mode`: what disabling does; `strategy`: makes the strategy, once.
    """

    task_inputs: SweptInputs
    variants: Sequence[Variants]
    mode: Mode
    strategy: Callable[[], Strategy]
    settings: Settings
    groups: list[list[Encoded]] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = list(by_length(self.task_inputs.inputs, self.settings.batch_tokens, self.settings.seed))

    @property
    def fold(self) -> Fold[list[Swept]]:
        """How the parts are put together."""
        return listed(Swept, self.refuse_damaged)

    def fingerprint(self) -> Fingerprint:
        """Model, inputs, variants, machine and settings: all that the bits of an output depend on."""
        arrays = [array for encoded in self.task_inputs.inputs for array in encoded.inputs.values()]
        return of_machine(self.task_inputs.model, self.settings) | {
            "model": of_model(self.task_inputs.model),
            "inputs": hash_of(array.tobytes() for array in (*arrays, *self.task_inputs.masked_pieces)),
            "mode": self.mode,
            "variants": "; ".join(variants.name for variants in self.variants),
            "seed": self.settings.seed,
            "batch_tokens": self.settings.batch_tokens,
        }

    @property
    def passes(self) -> int:
        """The number of forward passes that each input goes through."""
        return 1 + sum(len(variants.heads) for variants in self.variants)

    def refuse_damaged(self, done: list[Swept]) -> None:
        """Raise `ValueError` for outputs of other sizes: a journal may be forged."""
        variants = [1, *(len(variant.heads) for variant in self.variants)]
        sizes = [(number, len(group)) for group in self.groups for number in variants]
        shapes = [part.outputs.shape[:2] for part in done]
        if shapes != sizes[: len(done)] or len({part.outputs.shape[2] for part in done}) > 1:
            raise ValueError("does not fit")

    def parts(self, done: Part) -> Generator[Part]:
        """The parts after those that are done, one after the other; the first batch may be read in part."""
        self.settings.on_progress(done.coverage.inputs)
        first, skipped = divmod(len(done.state), 1 + len(self.variants))
        numbers = range(first, len(self.groups))
        if not self.settings.in_parts:
            for number in numbers:
                for swept in self._read(number, skipped if number == first else 0, self.settings.on_progress):
                    yield _part([swept])
            return

        def do(number: int, channel: TaskChannel) -> Json:
            return encode(_part(list(self._read(number, skipped if number == first else 0, channel.progress))))

        if numbers and self.settings.engine is None:
            self.strategy()  # once, for all children
        tasks = Tasks(do, numbers, "batch", self.fingerprint, self.settings.on_progress)
        yield from parts_by_workers(tasks, self.settings, self.task_inputs.model.device, self.fold)

    def unfinished(self) -> None:
        """Nothing: a part is read whole or not at all."""

    def in_order(self, outputs: Sequence[Swept]) -> list[Float[np.ndarray, "variant example output"]]:
        """The outputs with all heads, and of each of the variants, for all inputs in the order of the corpus."""
        order = np.argsort([encoded.index for group in self.groups for encoded in group])
        size = 1 + len(self.variants)
        by_variants = ([part.outputs for part in outputs[number::size]] for number in range(size))
        return [np.concatenate(batches, axis=1)[:, order] for batches in by_variants]

    def _read(self, number: int, skipped: int, on_progress: Callable[[int], None]) -> Iterator[Swept]:
        """The parts of a batch without the first ones."""
        strategy, batch = self.strategy(), self.task_inputs.batch(self.groups[number])
        missing = self.variants[max(0, skipped - 1) :]
        with torch.inference_mode(), closing(strategy.outputs(batch, missing)) as outputs:
            for values in islice(outputs, min(1, skipped), None):
                yield Swept(values, strategy.name)
                on_progress(values.shape[0] * values.shape[1])


def _part(swept: list[Swept]) -> Part:
    return ReadShards(swept, len(swept), Coverage(sum(part.outputs[..., 0].size for part in swept)))
