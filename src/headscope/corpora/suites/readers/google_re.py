"""Google-RE of LAMA (Petroni et al. 2019): places and years of birth, places of death, in the paper's templates."""

from collections.abc import Iterator, Sequence

from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.facts import facts, in_templates
from headscope.corpora.suites.item import ClozeItem

FILES = ("google_re.jsonl",)
TEMPLATES = {
    "place_of_birth": ["[X] was born in [Y] ."],
    "date_of_birth": ["[X] (born [Y])."],
    "place_of_death": ["[X] died in [Y] ."],
}


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The facts of a file, in its order."""
    for file in files:
        yield from in_templates(facts(file, "relation"), TEMPLATES)
