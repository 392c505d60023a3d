"""Claims of `induction`: heads that look at repetitions and planted pairs, heads that copy, and sinks of attention."""

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.claims import Claim, above, paired, together, witness
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import (
    Estimate,
    agree,
    listed,
    mean_of_heads,
    measured,
    n_examples,
    number,
    of_array,
    several,
    strongest,
)
from headscope.statistics.significance import GAIN, RATE
from headscope.studies.heads.induction.card import COPIES, FOCUS_WORDS, WORDS

# A head mostly looks at the previous token, or at a sink, from here on, as in `profile`.
HALF = 0.5
# Nats a token from which on the loss of a second copy is said to rise.
HARM = 0.1


def repetition(numbers: Numbers, relation: str) -> Finding:
    """The chosen head of a relation, on the half that did not choose it."""
    head = chosen_head(numbers, "chosen", relation=relation)
    attention, control, gain = (
        numbers(f"chosen_{name}", relation=relation) for name in ("attention", "control", "gain")
    )
    cases, where = numbers.n("chosen_attention", relation=relation), WORDS[relation]
    count = int((numbers.result["special"].sel(relation=relation) == 1).sum())
    # A gain of 0.1; of the previous token, of which any model with positions may have some, half of the attention.
    previous = relation == "previous"
    beside = "uniform attention is" if previous else "at the same places without the repetition it gives"
    return Finding.judged(
        above(attention, HALF, cases) if previous else paired(attention, control, gain, cases, GAIN),
        f"Head {head} gives {where} {attention} of its attention; {beside} {number(control.value)}. "
        f"{several(count, 'head')} {agree(count, 'gains', 'gain')} {GAIN} or more beyond chance (q < {RATE}). "
        f"n = {cases:,} tokens of held-out sequences.",
        holds=f"Head {head} looks at {where}",
        fails=f"No head looks at {where}",
        undecided=f"It cannot be told whether a head looks at {where}",
        unit="tokens of sequences",
    )


def chosen_head(numbers: Numbers, prefix: str, **labels: object) -> str:
    """The head that was chosen, on other cases, for a relation or a length of texts."""
    return head_name(*(int(numbers(f"{prefix}_{name}", **labels).value) for name in ("layer", "head")))


def causal(numbers: Numbers) -> Finding:
    """What the second copy loses without the head that looks at copies most, and without which heads it loses most."""
    layer, head = (int(numbers(f"chosen_{name}", relation="induction").value) for name in ("layer", "head"))
    rise, name = numbers("copy_loss_rise", layer=layer, head=head), head_name(layer, head)
    return Finding.judged(
        above(rise, 0, (n_examples(numbers.array("copy_loss_rise")) or (0, 0))[1], least=HARM),
        f"The loss of a second copy of random tokens is {numbers('copy_loss')} nats a token. With head {name} replaced "
        f"by its mean over the inputs it rises by {rise}; it rises most without "
        f"{listed(strongest(numbers.array('copy_loss_rise'))[:3])}.",
        holds=f"Repetition is lost in part without head {name}, the one with most attention to copies",
        fails="Repetition does not need the head with most attention to copies",
        undecided="It cannot be told whether repetition needs the head with most attention to copies",
        unit="sequences",
    )


def copying(numbers: Numbers) -> Finding:
    """The heads whose circuit raises the logit of what they look at."""
    shares, q = numbers.array("copying"), numbers.array("copying_q_value")
    sure = shares.where((q < RATE) & (shares >= COPIES))
    heads = [reading for reading in strongest(sure) if reading.value == reading.value]
    best = (sure if heads else shares).fillna(-1).argmax(["layer", "head"])
    tokens = (n_examples(shares) or (0, 0))[1]
    eigenvalues, most = (float(numbers.result[f"copying_{name}"].isel(best)) for name in ("eigenvalues", "most"))
    name = head_name(int(shares["layer"][best["layer"]]), int(shares["head"][best["head"]]))
    return Finding.judged(
        above(of_array(shares.isel(best)), COPIES, tokens, q=float(q.isel(best))),
        f"Head {name}: what it writes where it looks at a token raises the token's own logit above the mean for "
        f"{float(shares.isel(best)):.0%} of {tokens:,} tokens, and more than all others for {most:.0%}; its "
        f"eigenvalues add up to {number(eigenvalues)} of their absolute values. {several(len(heads), 'head')} "
        f"{agree(len(heads), 'does', 'do')} so for {COPIES:.0%} or more (q < {RATE} against what it writes turned at "
        "random).",
        holds=f"{several(len(heads), 'head')} {agree(len(heads), 'copies', 'copy')} the token looked at",
        fails="No head copies the token it looks at",
        undecided="It cannot be told whether a head copies the token it looks at",
        unit="tokens",
    )


def sinks(numbers: Numbers) -> Finding:
    """The focus with the most attention beside uniform attention, and the values there."""
    names = numbers.labels("sink_attention", "focus")
    arrays = {name: numbers.array("sink_attention", focus=name) for name in names}
    uniform = {name: float(numbers.array("sink_share", focus=name).mean()) for name in names}
    means = {name: mean_of_heads(array) for name, array in arrays.items()}
    n = {name: (n_examples(array) or (0, 0))[0] for name, array in arrays.items()}
    claims = together([above(means[name], uniform[name], n[name], least=uniform[name]) for name in names])
    most = names[index := witness(claims)]
    heads, word = int((arrays[most] > HALF).sum()), FOCUS_WORDS[most]
    gets = "gets" if most == "first" else "get"
    share = f"{word[:1].upper()}{word[1:]} {gets} {means[most].value:.0%} of all attention"
    return Finding.judged(
        claims[index],
        f"Uniform attention would give {number(uniform[most])}. {several(heads, 'head')} "
        f"{agree(heads, 'gives', 'give')} more than half; most: {listed(strongest(arrays[most])[:3])}."
        f"{_moved(numbers.result, most, arrays[most])}",
        holds=f"{share}, a sink",
        fails="No token is a sink of attention",
        undecided=f"{share}, perhaps no more than other tokens",
        unit="sequences",
    )


def _moved(result: xr.Dataset, focus: str, attention: xr.DataArray) -> str:
    """The length of what is moved from the sink, of the heads that give it more than half."""
    if (norms := measured(result, "value_norm", focus=focus)) is None:
        return ""
    some = attention > HALF
    median, whose = (norms.where(some), "these heads") if bool(some.any()) else (norms, "heads")
    share = f"{float(median.median()):.0%}"
    return f" The values that {whose} read there have {share} of the norm of those of other tokens."


def planted(numbers: Numbers) -> Finding:
    """The head chosen for the longest text in which a head is shown to find the pair, else for the shortest."""
    contexts = [int(context) for context in numbers.labels("finder_layer", "context")]
    claims = {context: _claim(numbers, context) for context in contexts}
    sure = [context for context in contexts if claims[context].verdict == "holds"]
    context = max(sure) if sure else min(contexts)
    head = chosen_head(numbers, "finder", context=context)
    gains = {length: numbers.array("finder_gain", context=length) for length in contexts}
    ends = "; ".join(
        f"{length:,} tokens {number(float(gain.min()))} to {number(float(gain.max()))}"
        for length, gain in gains.items()
    )
    return Finding.judged(
        claims[context],
        f"From the last of {context:,} random tokens head {head} gives the token after the only earlier copy "
        f"{claims[context].difference} more of its attention than without the copy, over all depths. Gains of the best "
        f"heads from their worst depth to their best: {ends}. n = {numbers.n('finder_mean_gain', context=context)} "
        "held-out texts of each length.",
        holds=f"Head {head} finds what followed a token anywhere in {context:,} tokens",
        fails="No head finds what followed a token far back",
        undecided="It cannot be told whether a head finds what followed a token far back",
        unit="texts of each length",
    )


def _claim(numbers: Numbers, context: int) -> Claim:
    """The gain over all depths, on the texts that did not choose the head."""
    gain = numbers("finder_mean_gain", context=context)
    head = {name: int(numbers(f"finder_{name}", context=context).value) for name in ("layer", "head")}
    control = float(numbers.array("planted_control", context=context, **head).mean())
    return paired(
        Estimate(control + gain.value), Estimate(control), gain, numbers.n("finder_mean_gain", context=context), GAIN
    )
