"""Gradient of a loss with respect to the attention to separators, punctuation and other tokens.

Clark et al. 2019, section 3.2 (Figure 3): the size of the gradient of the loss by each attention weight.
"""

from headscope.common_numbers import COVERAGE
from headscope.study import Cost, InSurvey, Number, Study

UNIT, HEADS = "loss by unit of attention", ("layer", "head", "token_class")
FROM = ("layer", "head", "query_group", "token_class")
SIZE = "size of the gradient of the loss by attention"
CORRELATION = "rank correlation over heads of attention to a class with its gradient"
STUDY = Study(
    question="Does attention matter to the loss?",
    source="Clark et al. 2019, section 3.2 (Figure 3)",
    attention=True,
    survey=InSurvey("text", Cost(3, 0.05, words=0.45)),
    options={"batch_tokens": 1024},  # the backward pass holds all maps of a batch
    required=("gradient",),
    measures=("attention_to", "sep_to_sep"),
    numbers=(
        Number(
            *("gradient", f"{SIZE} to each class of token", UNIT, HEADS),
            definition="mean of |dLoss/dA| over the weights of a class of keys, then over examples",
        ),
        Number(
            *("gradient_from", f"{SIZE} from separators and from [CLS]", UNIT, FROM),
            definition="as gradient, over the rows of separators or of [CLS] alone",
        ),
        Number(
            *("relative_gradient", "gradient by attention to a class, divided by that to other tokens", "ratio"),
            ("layer", "token_class"),
        ),
        Number("rank_correlation", CORRELATION, "Spearman correlation", ("token_class",)),
        *COVERAGE,
    ),
)
