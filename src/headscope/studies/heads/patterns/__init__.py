"""Share of each head's attention maps with each of five patterns, and the pattern of most of its maps.

Kovaleva et al. 2019, section 4.1 (Figures 1 and 2): vertical, diagonal, vertical + diagonal, block, heterogeneous.
Their network and labelled maps came with the code of Prasanna, Rogers and Rumshisky (2020), without weights;
docs/patterns.md says how the classifier here was made, and how well it tells the patterns.
"""

from headscope.study import Cost, Dimension, InSurvey, Kind, Number, Study

SHARE, HEADS, MAP = "share of maps", ("layer", "head", "pattern"), ("pattern", "example")
SAME = "share of heads that have the same most frequent pattern in all corpora"
STUDY = Study(
    question="Which of five pictures do attention maps show?",
    source="Kovaleva et al. 2019, section 4.1",
    attention=True,
    survey=InSurvey("text", Cost(1, 0.9, fixed=2), several=True),
    options={"limit": 1000},  # as in the paper
    quick=("--shown", "1"),
    kinds=(
        Kind(90, "vertical", "#6699cc", "has vertical stripes in more than half of its maps"),
        Kind(91, "diagonal", "#aa4499", "has a diagonal in more than half of its maps"),
        Kind(
            *(92, "vertical_diagonal", "#882255"),
            "has stripes and a diagonal in more than half of its maps",
            "vertical + diagonal",
        ),
        Kind(
            *(93, "block", "#999933"),
            "spreads attention nearly evenly, over the input or its segments, in more than half of its maps",
            "near-even block",
        ),
    ),
    required=("share",),
    dims={"pattern": Dimension("class of an attention map")},
    coords={
        "dominant": ("U", ("task", "layer", "head")),
        **dict.fromkeys(("map_layer", "map_head"), ("i", MAP)),
        "map_confidence": ("f", MAP),
        "map_task": ("U", MAP),
        "head_map_confidence": ("f", HEADS),
        "head_map_task": ("U", HEADS),
        "head_map_token": ("U", (*HEADS, "query")),
    },
    numbers=(
        Number(
            *("share", "share of maps with each pattern", SHARE, HEADS),
            definition="mean over inputs of the probability of the pattern, at the natural rate of patterns; the five "
            "of a head sum to 1",
        ),
        Number("share_total", "share of all heads' maps with each pattern", SHARE, ("pattern",)),
        Number("counted", "share of maps of which each pattern is the most probable", SHARE, HEADS),
        Number(
            *("same_pattern", SAME, "share of heads"),
            definition="of several corpora: share of heads whose pattern with the largest share is the same in all; "
            "its interval (Wilson's) is over heads",
        ),
    ),
)
