"""Findings of the study: sentences with their numbers, intervals and cases."""

import xarray as xr

from headscope.report.claims import most_of_many
from headscope.report.parts import Finding
from headscope.report.wording import examples, listed, measured, strongest

MOST_HEADS_NAMED = 3


def findings(result: xr.Dataset) -> list[Finding]:
    """The heads that look most at the token itself: a claim that is tested, with a title for each verdict.

    A variable that has no values, as on a corpus without what is measured, has no finding.
    """
    own = measured(result, "template")
    if own is None:
        return []
    heads = strongest(own)
    return [
        Finding.judged(
            most_of_many(own),
            f"Most attention to it: {listed(heads[:MOST_HEADS_NAMED])}.{examples(own)}",
            holds=f"Head {heads[0].head} looks at the token itself as no other head does",
            fails="No head stands out by looking at the token itself",
            undecided="It cannot be told whether a head stands out by looking at the token itself",
            unit="examples",
        )
    ]
