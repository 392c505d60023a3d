"""Inference of one to four steps, generated: the same items in every run.

Each item has two chains of statements in random order; the wrong answer is the end of the other chain, or the opposite
comparison. Each chain is asked in both ways, so that a model that prefers one word or one position is right in half of
the items. The condition is the number of steps.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from headscope.corpora.suites.item import GAP, ClozeItem, gap

SUITES = {"inference": ()}
STEPS = ("1 step", "2 steps", "3 steps", "4 steps")
# Pairs of items of each number of steps.
DRAWN = 50
PEOPLE = "Ann Tom Mary John Paul Lucy Jack Emma Kate Mark Anna Peter".split()
COMPARED = (("taller", "shorter"), ("older", "younger"), ("faster", "slower"), ("richer", "poorer"))
CONTAINERS = "box bag car house garden room ship cup basket truck".split()
THINGS = "ball key book coin ring pen".split()


def inference() -> Iterator[ClozeItem]:
    """Order of persons, then where things are, steps in turns."""
    for kind in (_orders, _places):
        rounds = zip(*(list(kind(steps)) for steps in range(1, len(STEPS) + 1)), strict=True)
        yield from (item for one_round in rounds for item in one_round)


def _orders(steps: int) -> Iterator[ClozeItem]:
    """Persons compared in a chain: the first and the last, in both orders."""
    random = Random(f"order {steps}")
    for number in range(DRAWN):
        words = COMPARED[number % len(COMPARED)]
        persons = random.sample(PEOPLE, steps + 1)
        premises = [f"{first} is {words[0]} than {second}." for first, second in pairwise(persons)]
        context = " ".join(random.sample(premises, steps))
        for first, last, answers in ((persons[0], persons[-1], words), (persons[-1], persons[0], words[::-1])):
            text = f"{context} So {first} is {GAP} than {last}."
            id = f"order-{steps}-{number}-{answers[0]}"
            yield gap(id, "inference: order", text, answers, "", STEPS[steps - 1])


def _places(steps: int) -> Iterator[ClozeItem]:
    """Two things, each in nested containers: the outermost one of either."""
    random = Random(f"places {steps}")
    for number in range(DRAWN):
        things, containers = random.sample(THINGS, 2), random.sample(CONTAINERS, 2 * steps)
        chains = [[thing, *containers[at * steps : (at + 1) * steps]] for at, thing in enumerate(things)]
        premises = [f"The {first} is in the {second}." for chain in chains for first, second in pairwise(chain)]
        context = " ".join(random.sample(premises, len(premises)))
        for chain, other in (chains, chains[::-1]):
            yield _location(f"place-{steps}-{number}-{chain[0]}", context, chain, other[-1], STEPS[steps - 1])


def _location(id: str, context: str, chain: Sequence[str], wrong: str, condition: str) -> ClozeItem:
    text = f"{context} So the {chain[0]} is in the {GAP}."
    return gap(id, "inference: place", text, (chain[-1], wrong), "", condition)
