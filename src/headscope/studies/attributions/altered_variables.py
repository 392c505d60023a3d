"""What alterations of attention change: variables of a result."""

import numpy as np

from headscope.results.variables import Label
from headscope.studies.attributions.altered_attention import LARGEST, RANDOM
from headscope.studies.attributions.altered_inputs import ALTERATIONS, AlteredInputs

COORDS = {"alteration": ALTERATIONS, "erased_share": tuple(LARGEST.values())}
JAIN = "Jain and Wallace 2019, section 4; Serrano and Smith 2019, section 3"
OUTPUT, DECISION = "change of the output", "share of inputs with another decision"
LAYERS, ALTERED, ERASED, HEADS = ("alteration", "layer"), ("alteration",), ("erased_share",), ("layer", "head")
NATS = "nats"
FAR = "Jensen-Shannon divergence of attention from the model's own"
SAME = "of another attention of the same output"
LABELS = {
    "altered_output": Label("change of the output with altered attention in all layers", OUTPUT, ALTERED, JAIN),
    "altered_decision": Label("another decision with altered attention in all layers", DECISION, ALTERED, JAIN),
    "altered_distance": Label(f"{FAR}, altered in all layers", NATS, ALTERED, JAIN),
    "layer_altered_output": Label("change of the output with altered attention in a layer", OUTPUT, LAYERS, JAIN),
    "layer_altered_decision": Label("another decision with altered attention in a layer", DECISION, LAYERS, JAIN),
    "erased_lead": Label(
        "change of the output without the largest weights, more than without random ones", OUTPUT, ERASED, JAIN
    ),
    "erased_decision_lead": Label(
        "another decision without the largest weights, more often than without random ones", DECISION, ERASED, JAIN
    ),
    "other_lead": Label(f"{FAR} {SAME}, more than that of permuted attention", NATS, (), JAIN),
    "head_other_distance": Label(f"{FAR} {SAME}, found for a head alone", NATS, HEADS, JAIN),
    "head_other_change": Label("change of the output with that attention of a head alone", OUTPUT, HEADS, JAIN),
    "head_other_lead": Label(f"{FAR} {SAME}, found for a head alone, more than permuted", NATS, HEADS, JAIN),
}


def values(rows: AlteredInputs) -> dict[str, np.ndarray]:
    """The values of each variable for each input: [input, *dims]."""
    largest, random = ([ALTERATIONS.index(name) for name in names] for names in (LARGEST, RANDOM))
    permuted = rows.distance[:, ALTERATIONS.index("permuted")]
    distance = np.nanmean(rows.distance, axis=(-1, -2))
    return {
        "altered_output": rows.change[..., 0],
        "altered_decision": rows.flip[..., 0],
        "altered_distance": distance,
        "layer_altered_output": rows.change[..., 1:],
        "layer_altered_decision": rows.flip[..., 1:],
        "erased_lead": rows.change[:, largest, 0] - rows.change[:, random, 0],
        "erased_decision_lead": rows.flip[:, largest, 0] - rows.flip[:, random, 0],
        "other_lead": distance[:, -1] - distance[:, ALTERATIONS.index("permuted")],
        "head_other_distance": rows.head_distance,
        "head_other_change": rows.head_change,
        "head_other_lead": rows.head_distance - permuted,
    }
