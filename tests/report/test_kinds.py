"""What a head does in a word, by measured numbers."""

import numpy as np
import xarray as xr

from headscope.report.kinds import COLOURS, MEANINGS, at_least, by_name, head_kinds, words_of
from support.profile_result import profile_result


def test_every_kind_has_a_colour_and_a_meaning() -> None:
    assert list(COLOURS) == list(MEANINGS)


def test_shares_of_a_profile_are_kinds_the_most_specific_first() -> None:
    result = profile_result().copy(deep=True)
    for name in ("attention_offset", "attention_to", "entropy"):
        result[name][:] = 0
    result["attention_offset"].loc[{"layer": 2, "head": 1, "offset": -1}] = 0.4
    result["attention_to"].loc[{"layer": 2, "head": 1, "token_class": "cls"}] = 0.6
    result["attention_to"].loc[{"layer": 1, "head": 3, "token_class": "sep"}] = 0.39
    result["entropy"].loc[{"layer": 3, "head": 2}] = 0.95 * float(result["uniform_entropy"])
    kinds = head_kinds([result])
    assert {key: [kind.kind for kind in several] for key, several in kinds.items()} == {
        (2, 1): ["previous", "cls"],
        (3, 2): ["broad"],
    }
    assert words_of(kinds[2, 1]) == "previous, [CLS]"


def test_missing_heads_have_no_kind() -> None:
    array = xr.DataArray([[0.9, np.nan]], {"layer": [1], "head": [1, 2]}, ("layer", "head"))
    assert [(kind.layer, kind.head) for kind in at_least(array, 0.4, "cls", "[CLS]")] == [(1, 1)]


def test_words_are_labels_the_largest_value_first() -> None:
    values = [[[0.2, 0.3, np.nan], [np.nan] * 3]]
    coords = {"layer": [4], "head": [1, 2], "relation": ["det", "obj", "nsubj"]}
    kinds = by_name(xr.DataArray(values, coords, ("layer", "head", "relation")), "relation", "relation")
    assert [(kind.layer, kind.head, kind.word) for kind in kinds] == [(4, 1, "obj"), (4, 1, "det")]
