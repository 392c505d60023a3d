"""Another attention of the same output, as far as possible from the model's own, searched by gradient.

Jain and Wallace 2019, section 4.2.2: the divergence is raised while the output stays within a tolerance. What is found
is a lower bound: an attention at least as far exists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.studies.words.attributions.altered_attention import Maps, Seen, divergence

# Steps of a search for all heads and for one, and the size of the first in logarithms of attention; that of the last is
# a twentieth of it.
STEPS, HEAD_STEPS, RATE = 40, 15, 0.3
# Smaller weights are alike: a search that starts farther away does not come back in its steps.
LEAST = 1e-3
# A search ends at this share of ln 2, the largest divergence.
ENOUGH = 0.75
# The price of an output is the squared logarithm of its change beyond this part of the tolerance: 0 and flat within.
MARGIN = 0.7
# At the end the map is mixed with the model's own, of which so much is replaced.
MIXES = (0.8, 0.6, 0.4, 0.2, 0.1, 0.05)
Numbers = Int[Tensor, " copy"]
# The change of the output for the attention of some of the copies.
Change = Callable[[Maps, Numbers], Float[Tensor, " copy"]]


def search(own: Maps, seen: Seen, noise: Maps, change: Change, tolerance: float, steps: int = STEPS) -> Maps:
    """The farthest attention that is found of each copy; the model's own where no other has the same output.

    * `own`: the model's attention, a part of it searched in each copy: [copy, ..., query, key].
    * `noise`: random numbers, by which rows that are even leave their place.
    * `tolerance`: the largest change of the output; `steps`: how many are made at most.
    """
    # At first each query looks most at what it looks at least.
    start = (noise - own.clamp_min(LEAST).log()).masked_fill(~seen, torch.finfo(own.dtype).min)
    logits = start.detach().requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    best = _Best(own, own.clone(), own.new_zeros(len(own)))
    active = torch.arange(len(own), device=own.device)
    with torch.enable_grad():
        for _ in range(steps):
            attention = logits[active].softmax(-1)
            far, moved = distance(own[active], attention), change(attention, active)
            best.take(active, attention.detach(), far.detach(), moved.detach() <= tolerance)
            beyond = (moved / (MARGIN * tolerance)).clamp_min(1).log().square()
            optimizer.zero_grad()
            (beyond - far / log(2)).sum().backward()
            optimizer.step()
            schedule.step()
            active = (best.distance < ENOUGH * log(2)).nonzero()[:, 0]
            if not len(active):
                break
    last = logits.detach().softmax(-1)
    for share in MIXES:
        mixed = own + share * (last - own)
        far = distance(own, mixed)
        # A mix that is nearer than what is found needs no pass.
        if len(farther := (far > best.distance).nonzero()[:, 0]):
            best.take(farther, mixed[farther], far[farther], change(mixed[farther], farther) <= tolerance)
    return best.attention


def distance(own: Maps, attention: Maps) -> Float[Tensor, " copy"]:
    """The Jensen-Shannon divergence of each copy, in nats: mean over queries, heads and layers."""
    return divergence(own, attention).flatten(1).mean(1)


@dataclass
class _Best:
    """The farthest attention of each copy so far, and how far it is from the model's own."""

    own: Maps
    attention: Maps
    distance: Float[Tensor, " copy"]

    def take(self, copies: Numbers, attention: Maps, far: Tensor, same: Tensor) -> None:
        """Take the attention of some copies where it is farther than the one so far and its output is the same."""
        better = same & (far > self.distance[copies])
        self.attention[copies[better]] = attention[better]
        self.distance[copies[better]] = far[better]
