"""Verdicts in words: of a page, the terminal and a document."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from headscope.figures.labels import label, special_tokens
from headscope.papers.rules import RULES
from headscope.papers.verdicts import VERDICTS, Judgement
from headscope.report.claims import two_digits
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import LEVELS, Estimate, number, rate, several
from headscope.results.tables import markdown_cell, plain

# Rules that compare two numbers, and those of them in which the second is higher.
BELOW = ("below", "below over labels")
COMPARING = ("above", "not below", *BELOW)
# What holds for all rows of a document.
NOTE = (
    "Published figures were read in the paper unless their row says otherwise. Two numbers that are compared count as "
    "independent. A special token before a number is the one with the most attention."
)


def measured(judgement: Judgement) -> str:
    """What the result has: the number with its interval beside what it is compared with; why there is none."""
    test, claim = judgement.test, judgement.claim
    if test is None:
        return judgement.lacks
    where = f"{judgement.words}: " if judgement.words and RULES[claim.rule].over != "layers" else ""
    return where + _compared(judgement) + _open(judgement)


def _compared(judgement: Judgement) -> str:
    test, claim = judgement.test, judgement.claim
    assert test is not None
    difference = test.difference
    if not RULES[claim.rule].decides:
        return difference.text
    if RULES[claim.rule].over == "layers":
        return f"correlation {number(test.value)}" + (f", {judgement.words}" if judgement.words else "")
    if claim.than and test.baseline != claim.limit and claim.rule in COMPARING:
        sign = -1 if claim.rule in BELOW else 1
        shift = -claim.limit if claim.rule == "not below" else claim.limit
        gain = Estimate(*(sign * (bound + shift) for bound in (difference.value, difference.lower, difference.upper)))
        gain = Estimate(gain.value, *sorted((gain.lower, gain.upper))) if gain.tested else gain
        return f"{number(test.value)} against {number(test.baseline)} (difference {gain.signed})"
    if claim.rule in ("some special", "no special"):
        return several(int(test.value), "head")
    above = Estimate(test.value, test.value - (difference.value - difference.lower), test.value + _above(difference))
    flipped = Estimate(test.value, test.value - _above(difference), test.value + (difference.value - difference.lower))
    return f"{(flipped if claim.rule == 'below' else above).text}, limit {number(test.baseline)}"


def _above(difference: Estimate) -> float:
    return difference.upper - difference.value


def _open(judgement: Judgement) -> str:
    """What an undecided claim lacks."""
    if judgement.lacks:
        return f"; {judgement.lacks}"
    if judgement.verdict != "undecided":
        return ""
    if over := RULES[judgement.claim.rule].over:
        return f"; too few {over} to tell"
    if judgement.claim.procedure:
        return "; more seeds would tell"
    test = judgement.test
    if judgement.wanted:
        return f"; some {two_digits(judgement.wanted):,} examples would decide it, in five samples of six"
    tested = test and test.difference.tested
    return "" if tested else "; too few examples to tell"


def details(judgement: Judgement) -> str:
    """The corpus, the number of cases, the correction of a verdict, and whether two numbers are compared unpaired."""
    unpaired = judgement.test and judgement.claim.than and judgement.claim.rule in COMPARING
    return cases(judgement) + (", compared as if independent" if unpaired else "")


def cases(judgement: Judgement) -> str:
    """The corpus, the number of cases and the correction of a verdict."""
    test, source = judgement.test, judgement.source
    if test is None or source is None:
        return ""
    parts = [str(source.result.attrs["corpus"]), f"n = {test.n:,}"]
    return ", ".join(parts + ([f"q = {rate(test.q)}".replace("= <", "< ")] if test.q == test.q else []))


def token(judgement: Judgement) -> str:
    """The special token that a claim is about, as the model writes it."""
    if not judgement.token or judgement.source is None:
        return ""
    with special_tokens(judgement.source.result.attrs):
        return label("token_class", judgement.token)


def short_figure(judgement: Judgement) -> str:
    """The paper's figure with what its row does not say: another source than this section, unless read in the paper."""
    claim, title = judgement.claim, judgement.paper.title
    _, _, paper = title.partition("(")
    source = claim.source.removeprefix(paper.partition(")")[0]).removeprefix(", ")
    source = source.removeprefix(f"section {claim.section}").removeprefix(" and ").strip(" ()")
    sure = "" if claim.level == "P" else LEVELS.get(claim.level, "not confirmed")
    beside = "; ".join(filter(None, (source, sure)))
    return f"{claim.figure} ({beside})" if claim.figure and beside else claim.figure


def counted(judgements: Iterable[Judgement]) -> dict[str, int]:
    """How many claims have each verdict, in a fixed order."""
    counts = Counter(judgement.verdict for judgement in judgements)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summed_up(judgements: Iterable[Judgement]) -> str:
    """The counts as a sentence."""
    counts = counted(judgements)
    without = counts["does not apply"]
    measured = sum(counts.values()) - counts["not measured"] - without
    return (
        f"Of {sum(counts.values())} claims {measured} are measured: {counts['holds']} hold, {counts['fails']} fail, "
        f"{counts['undecided']} are undecided."
    ) + (f" {without} {'does' if without == 1 else 'do'} not apply to this model or corpus." if without else "")


def tables(judgements: Sequence[Judgement], *, all_claims: bool = True) -> list[Table]:
    """A table of verdicts for each paper; without `all_claims` of the claims that are measured."""
    papers = dict.fromkeys(judged.paper.name for judged in judgements)
    listed = []
    for name in papers:
        mine = [judged for judged in judgements if judged.paper.name == name and (all_claims or judged.source)]
        rows: list[tuple[str, Cells]] = [
            (judged.claim.id, [(judged.verdict, ""), (judged.claim.claim, ""), (measured(judged), "")])
            for judged in mine
        ]
        if mine:
            listed.append(titled(name, mine[0].paper.title, "Id", ("Verdict", "Claim", "Here"), rows))
    return listed


def markdown(judgements: Sequence[Judgement], pages: Mapping[str, str] | None = None) -> str:
    """The verdicts as Markdown: a section for each paper; `pages`: the page of each study, that the claim links to."""
    lines = [summed_up(judgements), "", fill(NOTE, 120), ""]
    for name in dict.fromkeys(judged.paper.name for judged in judgements):
        mine = [judged for judged in judgements if judged.paper.name == name]
        lines += [f"## {plain(mine[0].paper.title)}", "", "| | section | claim | verdict | here | in the paper |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        for judged in mine:
            here = (
                (f"{token(judged)}, " if judged.token else "")
                + measured(judged)
                + (f" ({cases(judged)})" if judged.test else "")
            )
            page = (pages or {}).get(judged.claim.study, "")
            name = f"[{plain(judged.claim.id)}]({page})" if page else plain(judged.claim.id)
            cells = (judged.claim.section, judged.claim.claim, judged.verdict, here, short_figure(judged))
            lines.append("| " + " | ".join([name, *map(markdown_cell, cells)]) + " |")
        lines.append("")
    return "\n".join(lines)
