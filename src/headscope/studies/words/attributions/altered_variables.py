"""What alterations of attention change: variables of a result."""

import numpy as np

from headscope.studies.words.attributions.altered_attention import LARGEST, RANDOM
from headscope.studies.words.attributions.altered_inputs import ALTERATIONS, AlteredInputs

COORDS = {"alteration": ALTERATIONS, "erased_share": tuple(LARGEST.values())}


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
