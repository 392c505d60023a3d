"""One statistic per file: what is read off a block of attention rows, and what it comes to for each example."""

SURFACE = (
    "attention_to",
    "sep_to_sep",
    "attention_offset",
    "entropy",
    "cls_entropy",
    "feature_attention",
    "cls_feature_attention",
    "token_attention",
)
