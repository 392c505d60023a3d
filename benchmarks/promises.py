"""How often as many examples as a page asks for settle a claim: `python -m benchmarks.promises [--cases 4000]`.

A case is a share of right answers beside a limit. Its true difference is normal, with a standard deviation of some
errors of the examples that were read. Of an undecided claim a number is named or not; other examples, as many, then
decide it, or do not. Wanted: in five of six.
"""

import argparse

import numpy as np

from headscope.report.claims import Claim, above, examples_wanted
from headscope.report.wording import Estimate
from headscope.statistics.intervals import interval, of_shares

LIMIT, READ, RESAMPLES = 0.6, 200, 400


def claim(share: float, n: int, rng: np.random.Generator) -> Claim:
    """The claim that the right answers of n are more than the limit, by a Poisson bootstrap of right and wrong ones."""
    right, wrong = rng.poisson(n * share, RESAMPLES), rng.poisson(n * (1 - share), RESAMPLES)
    lower, upper = of_shares(interval(right / np.maximum(right + wrong, 1), n), np.array(share), n)
    return above(Estimate(share, float(lower), float(upper)), LIMIT, n)


def row(effect: float, cases: int, rng: np.random.Generator) -> str:
    """Of true differences of a size: how many claims are undecided, how many name a number, and how many keep it."""
    undecided, settled, as_seen = 0, [], []
    error = (LIMIT * (1 - LIMIT) / READ) ** 0.5
    for truth in np.clip(LIMIT + error * rng.normal(0, effect, cases), 0, 1):
        seen = claim(rng.binomial(READ, truth) / READ, READ, rng)
        undecided += seen.verdict == "undecided"
        if seen.verdict == "undecided" and (wanted := examples_wanted(seen)):
            again = claim(rng.binomial(wanted, truth) / wanted, wanted, rng).verdict
            settled.append(again != "undecided")
            as_seen.append(again == ("holds" if seen.difference.value > 0 else "fails"))
    return f"| {effect:g} | {cases} | {undecided} | {len(settled)} | {np.mean(settled):.2f} | {np.mean(as_seen):.2f} |"


def main() -> None:
    """Print a row for each size of the true difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=4000)
    cases = parser.parse_args().cases
    print("| true difference, in errors | cases | undecided | number named | settled | on the side that was seen |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for effect in (0.5, 1, 2, 4):
        print(row(effect, cases, np.random.default_rng(0)), flush=True)


if __name__ == "__main__":
    main()
