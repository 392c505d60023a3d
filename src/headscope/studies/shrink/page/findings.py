"""Findings: what the smaller model loses, how fast and how large it is, and what each removed part cost."""

import json
from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures.labels import label
from headscope.report import shared_findings
from headscope.report.claims import no_worse
from headscope.report.parts import Finding
from headscope.report.wording import estimate, examples, layers_named, measured, n_examples, number, of_array, several
from headscope.studies.shrink.page import fine, gates
from headscope.studies.shrink.page.eight_bit import eight_bit
from headscope.studies.shrink.page.held_out import changed, lossier_groups
from headscope.studies.shrink.page.kinds import kept_kinds
from headscope.studies.shrink.page.own_texts import AGREES, of_answers, own_texts, too_alike

# How a search chooses neurons, heads and layers, where it is one of the other choices.
METHODS = {"magnitude": " (here, too, the longest weights)", "random": " (here one draw of random ones)"}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The test of what is lost, the speed and the size of the saved model, and what is gone."""
    return [*_lost(result), _speed(result), _size(result), _removed(result)]


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first where the test of the tolerance does not hold."""
    tolerance = number(facts(result)["tolerance"])
    return Finding("Nothing is promised", f"Held-out examples do not show that less than {tolerance} is lost.")


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings."""
    return [
        *_lost(result),
        *own_texts(facts(result)),
        *_scores(result),
        _speed(result),
        _size(result),
        *([] if unlearned(result) else eight_bit(result, facts(result))),
        *_needed(result),
        _removed(result),
        *gates.findings(result, facts(result)),
        *kept_kinds(result),
        *_choices(result),
        *fine.portable(result, facts(result)),
        *changed(result),
        *([] if unlearned(result) else lossier_groups(result)),
        *_vocabulary(result),
        *_training(result),
    ]


def facts(result: xr.Dataset) -> dict[str, Any]:
    """The sizes, timings and options of the result."""
    return json.loads(result.attrs["shrinking"])


def times(result: xr.Dataset) -> float:
    """How many times as fast the saved model is: the mean over the timed shapes of the share of time, turned over."""
    timed = facts(result)["timed"]
    return len(timed) / sum(shape["after"] / shape["before"] for shape in timed)


def unlearned(result: xr.Dataset) -> Finding | None:
    """The finding that the whole model has not learned the task, or answers all alike; None for no such task."""
    lacks = shared_findings.unlearned(result)
    if lacks is None or not of_answers(facts(result)):
        return lacks
    metric = {"metric": str(result["metric"].values[0])}
    return too_alike(estimate(result, "whole_score", **metric).text, float(result["chance"].sel(metric)))


def removed_nothing(result: xr.Dataset) -> bool:
    """Whether the saved model is as large as the whole one."""
    before, after = facts(result)["megabytes"]
    return after >= before


def _lost(result: xr.Dataset) -> Iterator[Finding]:
    """The test that no more than the tolerance is lost, on held-out examples."""
    if lacks := unlearned(result):
        yield lacks
        return
    if removed_nothing(result):
        text = "No part could go: the saved model is the whole one, so that nothing is promised of a smaller one."
        yield Finding("Nothing was removed", text)
        return
    gain = measured(result, "shrunk_gain")
    if gain is None:
        yield Finding("What is lost is not known", "The held-out examples are too few to score the saved model.")
        return
    tolerance, name = facts(result)["tolerance"], label("metric", str(result["metric"].values[0]))
    claim = no_worse(of_array(gain), tolerance, (n_examples(gain) or (0, 0))[0])
    of_model = AGREES if of_answers(facts(result)) else ""
    text = f"On held-out examples {name} changes by {of_array(gain).text}.{of_model}{examples(gain)}"
    if "chance" in result:
        least = f"less than {number(tolerance)} of {name}"
        titles = f"The smaller model loses {least}", f"The smaller model loses {number(tolerance)} of {name} or more"
        open_title = f"It is not sure that the smaller model loses {least}"
    else:
        least = number(1 - tolerance)
        titles = f"Similarities agree by more than {least}", f"Similarities agree by {least} or less"
        open_title = f"It is not sure that similarities agree by more than {least}"
    yield Finding.judged(claim, text, holds=titles[0], fails=titles[1], undecided=open_title, unit="examples")


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    """The scores of the saved model in all metrics, beside those before the training."""
    for metric in result["metric"].values.tolist():
        after, change = (measured(result, name, metric=metric) for name in ("shrunk_score", "shrunk_change"))
        if after is None or change is None:
            continue
        text = f"It is {of_array(after).text}: a change of {of_array(change).text} from the whole model."
        before = measured(result, "untrained_score", metric=metric)
        if before is not None and facts(result)["epochs"]:
            text += f" Before the training it was {number(float(before))}."
        yield Finding(f"{label('metric', metric).capitalize()} of the saved model", text + examples(after))


def _speed(result: xr.Dataset) -> Finding:
    known = facts(result)
    shapes = [
        f"{several(shape['examples'], 'input')} of {shape['tokens']} tokens: {number(shape['before'], '.1f')} ms and "
        f"{number(shape['after'], '.1f')} ms"
        for shape in known["timed"]
    ]
    text = f"Medians of a forward pass, before and after, on the machine where it was made. {'; '.join(shapes)}."
    _, *by_round = known["times_as_fast"]
    text += f" By rounds it is {' to '.join(number(times, '.2f') for times in by_round)} times as fast."
    text += f" {known['busy']}" if known["busy"] else ""
    if not known["reached"]:
        text += f" The target, {known['target']}, is not reached."
    return Finding(f"The model is {number(times(result), '.2f')} times as fast", text)


def _size(result: xr.Dataset) -> Finding:
    known = facts(result)
    (before, after), megabytes = known["parameters"], known["megabytes"]
    text = (
        f"{before:,} parameters became {after:,}, and {number(megabytes[0], '.3g')} MB became "
        f"{number(megabytes[1], '.3g')} MB."
    )
    return Finding(f"It has {after / before:.0%} of the parameters", text)


def _needed(result: xr.Dataset) -> Iterator[Finding]:
    """The size down to which the tolerance is kept, with its bounds."""
    share = measured(result, "needed_share")
    if share is None or unlearned(result):
        return
    down, least = of_array(share).percent, number(facts(result)["tolerance"])
    sizes = result["megabytes"].values
    text = (
        f"{several(len(sizes), 'size')} were tested, from the largest on, and the saved model. Down to {down} of the "
        f"size the main score falls by less than {least}. The bounds are those of these sizes where it surely does, "
        "and where it may."
    )
    if float(share) <= sizes[-1] / sizes[0] * (1 + 1e-9):
        text += " No smaller size was tested on these examples."
    text += examples(share)
    yield Finding("How small it may be", text)


def _removed(result: xr.Dataset) -> Finding:
    known = facts(result)
    gone = {name: known[name][0] - known[name][1] for name in ("layers", "neurons", "heads", "pieces")}
    without, of = fine.removed_layers(result, known), " of all layers" if "fine" in known else " of each layer"
    words = [
        f"{layers_named(without)} of {known['layers'][0]}" if without else "",
        *fine.sublayers(result, known),
        f"{gone['neurons']:,} of {known['neurons'][0]:,} neurons{of}" if gone["neurons"] else "",
        f"{gone['heads']} of {known['heads'][0]} heads{of}" if gone["heads"] else "",
        f"{gone['pieces']:,} of {known['pieces'][0]:,} pieces of the vocabulary" if gone["pieces"] else "",
        _embeddings(known),
    ]
    listed = [part for part in words if part]
    text = f"Removed: {'; '.join(listed)}. {fine.rest(known)}"
    return Finding("What was removed", text if listed else "Nothing was removed: the target is met without.")


def _embeddings(known: dict[str, Any]) -> str:
    """How many numbers of each embedding are gone, in words; nothing where all stay."""
    before, after = known.get("embedding_width", (0, 0))
    return f"{before - after:,} of {before:,} numbers of each embedding" if before > after else ""


def _choices(result: xr.Dataset) -> Iterator[Finding]:
    """The scores of models of the saved size whose parts are chosen otherwise."""
    metric = str(result["metric"].values[0])
    scores, gains = measured(result, "choice_score", metric=metric), measured(result, "choice_gain")
    if scores is None or gains is None:
        return
    search, weights, random = (of_array(scores.sel(choice=one)).text for one in ("search", "weights", "random"))
    gain, chosen = of_array(gains.sel(choice="random")).text, METHODS.get(facts(result)["method"], "")
    text = (
        f"A model of the saved size, before any training, has {label('metric', metric)} {search} with the parts of the "
        f"search{chosen}, {weights} with those of the longest weights, and {random} with random ones (mean over 5 "
        f"draws): a difference of {gain} from these.{examples(scores)}"
    )
    yield Finding("Other choices of parts", text)


def _vocabulary(result: xr.Dataset) -> Iterator[Finding]:
    known = facts(result)
    if known["pieces"][0] == known["pieces"][1]:
        return
    counts = known["held_out"]
    text = (
        f"Of {counts['tokens']:,} held-out tokens {counts['unknown']:,} become unknown; {counts['changed_texts']:.1%} "
        f"of the texts are read in other pieces, in {counts['more_tokens']:,} more tokens."
    )
    yield Finding("Pieces that are gone", text)


def _training(result: xr.Dataset) -> Iterator[Finding]:
    known = facts(result)
    if known["epochs"]:
        text = (
            f"{several(known['epochs'], 'epoch')} of training on states and outputs of the whole model, with "
            f"{several(known['examples'], 'example')}; the epoch is chosen on others, which do not score."
        )
        if not known.get("trained", True):
            text += " No epoch changes the outputs of these less than none: the saved model is untrained."
        yield Finding("How it was trained", text)
