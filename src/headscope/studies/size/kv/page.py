"""The page of the study: the plan and what it costs, each KV head by itself, planted tokens, and limits."""

from typing import Any

import xarray as xr

from headscope.report.claims import below, head_above
from headscope.report.declared import Chart, NumberTable, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Reading, layers_named, listed, number, several, strongest

LONG = 32_768  # tokens


def options(numbers: Numbers) -> dict[str, Any]:
    """The options of the study."""
    return numbers.attribute("options")


def ranked(array: xr.DataArray) -> list[Reading]:
    """The KV heads of an array, the largest value first."""
    return strongest(array.rename(key_head="head"))


def plan(numbers: Numbers) -> Finding:
    """The plan, and the rise of the loss on the texts that did not choose it."""
    forgets, rise, bound = numbers.array("forgets"), numbers("plan_rise"), options(numbers)["bound"]
    count, heads, n = int(forgets.sum()), several(int(forgets.notnull().sum()), "KV head"), numbers.n("plan_rise")
    if not count:
        text = "On the texts that choose the plan, the loss may rise by more, whichever of them forgets."
        return Finding(f"None of {heads} may forget within {bound} nats", text)
    before, after = (numbers(name, context=LONG).value for name in ("cache", "plan_cache"))
    text = (
        f"The loss of the next word rises by {rise} nats a token where {count} of {heads} forget, on {n} texts that "
        f"did not choose them. The keys and values of {LONG:,} tokens take {number(after, 'bytes')} instead of "
        f"{number(before, 'bytes')} ({1 - after / before:.0%} less)."
    )
    return Finding.judged(
        below(rise, bound, n),
        text,
        holds=f"{count} of {heads} may forget within {bound} nats",
        fails=f"The plan costs more than {bound} nats",
        undecided=f"The plan may cost more than {bound} nats",
        unit="texts",
    )


def unplanned(numbers: Numbers) -> Finding | None:
    """Why there is no plan."""
    if "forgets" in numbers.result:
        return None
    return Finding("No plan", "A plan needs 10 texts: 5 choose it, and 5 test it. Name more long texts.")


def alone(numbers: Numbers) -> Finding:
    """The KV heads whose loss rises most where they forget, one at a time."""
    rise, bound = numbers.array("loss_rise"), options(numbers)["bound"]
    top = ranked(rise)
    return Finding.judged(
        head_above(rise, bound),
        f"Rise of the loss in nats a token where one KV head forgets: {listed(top)}.",
        holds=f"KV head {top[0].head} cannot forget within {bound} nats",
        fails=f"Each KV head by itself may forget within {bound} nats",
        undecided=f"It cannot be told whether each KV head by itself may forget within {bound} nats",
        unit="texts",
    )


def needles(numbers: Numbers) -> Finding:
    """Planted tokens, with all keys, without those of one KV head, and with the plan."""
    text = f"With all keys {numbers('needle_accuracy'):%} of random tokens that were planted far back are recalled."
    if "needle_rise" in numbers.result:
        text += (
            f" Rise of their loss in nats where one KV head forgets: {listed(ranked(numbers.array('needle_rise')))}."
        )
    if "plan_needle_fall" in numbers.result:
        text += f" With the plan {numbers('plan_needle_fall'):%} fewer are recalled."
    return Finding("Planted tokens", text)


def local(numbers: Numbers) -> Finding | None:
    """Layers that see no more than what a KV head would keep."""
    kept, windows = options(numbers)["window"], numbers.attribute("windows")
    local = [layer for layer, window in enumerate(windows, 1) if window is not None and window < kept]
    if not local:
        return None
    named = layers_named(local)
    return Finding("Layers without a test", f"No more than {kept} tokens are seen in {named}: nothing is far back.")


def limits(numbers: Numbers) -> Finding:
    """What was read, and what it does not say."""
    chosen, cut = options(numbers), numbers.attribute("skipped")
    return Finding(
        "Limits",
        f"A KV head that forgets keeps {chosen['sinks']} first tokens and the last {chosen['window']}; tokens keep "
        f"their positions. Texts have at most {chosen['length']:,} tokens ({cut.get('cut', 0)} were cut there, "
        f"{cut.get('short', 0)} were too short to be read): longer ones may need more. A local layer keeps its window.",
    )


HEADS = {"layer": "Layer", "key_head": "KV head"}
MAP = "A cell is a KV head of {model_name} that keeps only the first tokens and a window; all others keep all."
PAGE = StudyParts(
    findings=(plan, unplanned, alone, needles, local, limits),
    charts=(
        Chart("loss_rise", "matrix", "Loss", MAP),
        Chart("forgets", "matrix", "Plan", "1: the plan lets the KV head forget."),
        Chart("needle_rise", "matrix", "Planted tokens", MAP),
        Chart("far_attention", "matrix", "Attention far back", "The order that one pass proposes; the loss decides."),
    ),
    tables=(
        NumberTable(
            *("cache", "Memory of the keys and values of one text, 16 bits a number.", {"context": "Tokens"}),
            {"cache": ("All keys", "bytes"), "plan_cache": ("With the plan", "bytes")},
        ),
        NumberTable(
            *("key_heads", "One KV head forgets, all others keep all.", HEADS),
            {"loss_rise": ("Loss", ""), "needle_rise": ("Planted", ""), "far_attention": ("Far attention", "%")}
            | {"forgets": ("In the plan", ".0f")},
        ),
    ),
)
