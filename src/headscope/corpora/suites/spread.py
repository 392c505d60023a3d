"""A sample of a suite that has items of all its conditions, from all parts of the file."""

from collections import defaultdict
from collections.abc import Sequence

from headscope.corpora.suites.item import ClozeItem


def spread(items: Sequence[ClozeItem], per_condition: int) -> list[ClozeItem]:
    """At most so many items of each condition of each phenomenon, at equal distances in the file, in its order.

    All wordings of a fact count as one item, and are all kept.
    """
    facts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for item in items:
        facts[item.phenomenon, item.condition][item.fact or item.id] = None
    kept = {condition: set(evenly(list(names), per_condition)) for condition, names in facts.items()}
    return [item for item in items if (item.fact or item.id) in kept[item.phenomenon, item.condition]]


def evenly(names: Sequence[str], most: int) -> Sequence[str]:
    """At most so many names at equal distances, the first among them.

    >>> evenly("abcdefg", 3), evenly("ab", 3)
    (['a', 'c', 'e'], 'ab')
    """
    return names if len(names) <= most else [names[index * len(names) // most] for index in range(most)]
