"""The page of the study: contacts that attention predicts, beside the distance and random weights."""

from headscope.report.claims import paired, weakest
from headscope.report.declared import Chart, NumberTable, StudyCard, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import listed, strongest

AT = {"top": "L"}
NAMED = 3


def all_heads(numbers: Numbers) -> Finding:
    """Whether a regression over all heads predicts contacts better than the distance and random weights do."""
    score, n = numbers("regression", **AT), numbers.n("regression")
    far, random = numbers("by_distance", **AT), numbers("regression_random", **AT)
    gains = [numbers(f"regression_over_{name}", **AT) for name in ("distance", "random")]
    return Finding.judged(
        weakest([paired(score, other, gain, n) for other, gain in zip((far, random), gains, strict=True)]),
        f"Among the L pairs that a regression over all heads scores highest, {score:%} are contacts; by the distance "
        f"alone {far:%}, with random weights {random:%}. {numbers('contact_share'):%} of all pairs are.",
        holds=f"Attention of all heads finds contacts: {score:.0%} of the L highest pairs are right",
        fails="All heads together predict contacts no better than the distance or random weights do",
        undecided="It cannot be told whether all heads predict contacts better than the distance and random weights",
        unit="sequences",
    )


def one_head(numbers: Numbers) -> Finding:
    """Whether the best head, chosen in other sequences, predicts contacts better than the distance does."""
    score, far = numbers("chosen_precision", **AT), numbers("by_distance", **AT)
    heads = strongest(numbers.array("precision", **AT))[:NAMED]
    return Finding.judged(
        paired(score, far, numbers("chosen_over_distance", **AT), numbers.n("regression")),
        f"Among the L pairs that the head chosen on other sequences scores highest, {score:%} are contacts; by the "
        "distance "
        f"alone {far:%}. In all sequences: {listed(heads)}.",
        holds=f"Head {heads[0].head} finds contacts better than the distance does",
        fails="No head finds contacts better than the distance does",
        undecided="It cannot be told whether a head finds contacts better than the distance does",
        unit="sequences",
    )


COLUMNS = {
    "regression": ("All heads", "%"),
    "chosen_precision": ("Chosen head", "%"),
    "by_distance": ("Distance", "%"),
    "regression_random": ("Random weights", "%"),
}
CAPTION = "Contacts among the L/5, L/2 and L highest pairs of each sequence, held out, in per cent with 95% intervals."
PAGE = StudyParts(
    highlights=(all_heads,),
    findings=(one_head,),
    charts=(
        Chart("precision", "heatmap", "Contacts", "Share of contacts among the L highest pairs of each head.", at=AT),
    ),
    tables=(NumberTable("contacts", CAPTION, {"top": "Pairs"}, COLUMNS),),
    card=StudyCard(main_numbers=("precision.L",)),
)
