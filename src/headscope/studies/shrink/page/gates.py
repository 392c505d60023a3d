"""Trained gates: how they chose, which heads they keep, and how likely each is open."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import heatmap, matrix
from headscope.report.parts import Figure, Finding
from headscope.report.wording import measured, number, several

GATES = "Trained gates"


def untrained(facts: dict[str, Any]) -> str:
    """How far the models of the steps are trained.

    >>> untrained({}), untrained({"gates": {}})
    ('before any training', 'before the training after that of gates')
    """
    return "before the training after that of gates" if "gates" in facts else "before any training"


def findings(result: xr.Dataset, facts: dict[str, Any]) -> Iterator[Finding]:
    """How gates chose, and which heads stay; nothing without gates."""
    if "gates" not in facts:
        return
    known = facts["gates"]
    text = (
        f"Gates were trained together with the model in {several(known['epochs'], 'epoch')}, "
        f"{several(known['steps'], 'step')}. Then their expected price was {number(known['expected_price'])} times the "
        "target. Those that are most likely open stay, as many as the target allows; the others are closed for good."
    )
    yield Finding("How gates chose", text)
    if (stays := measured(result, "head_stays")) is not None:
        text = "; ".join(_of_layer(int(row["layer"]), (row.values > 0).tolist()) for row in stays)
        yield Finding("Heads that the gates keep", f"{text.capitalize()}.")


def figures(result: xr.Dataset, facts: dict[str, Any]) -> Iterator[Figure]:
    """How likely each gate is open; nothing without gates."""
    if "gates" not in facts:
        return
    if (gates := measured(result, "head_gate")) is not None:
        caption = "Probability that the gate of each head is open at the end of the training of gates."
        yield Figure("head_gate", GATES, heatmap(gates, domain=(0, 1)), caption, "head_gate")
    of_layers = [name for name in ("layer_gate", "open_neurons") if measured(result, name) is not None]
    if of_layers:
        words = {"layer_gate": "the layer", "open_neurons": "its neurons"}
        columns = [result[name].expand_dims(gate_of=[words[name]]) for name in of_layers]
        array = xr.concat(columns, "gate_of", combine_attrs="drop").rename("gates").transpose("layer", "gate_of")
        array.attrs = {"long_name": "expected share of open gates", "units": "share"}
        caption = "Expected share of open gates: of each layer as a whole, and of its neurons."
        yield Figure(of_layers[0], GATES, matrix(array), caption, of_layers[0])


def _of_layer(layer: int, stays: list[bool]) -> str:
    heads = [str(head) for head, kept in enumerate(stays, 1) if kept]
    return f"layer {layer}: {', '.join(heads) if heads else 'none'}"
