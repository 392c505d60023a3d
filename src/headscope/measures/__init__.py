"""One statistic per file: sums over a block of attention rows (`observe`), and values of each example (`finish`)."""

SURFACE = (
    "attention_to",
    "sep_to_sep",
    "attention_offset",
    "entropy",
    "cls_entropy",
    "feature_attention",
    "cls_feature_attention",
    "start_attention",
    "cls_separator_lead",
    "token_attention",
    "same_word",
    "same_word_gain",
    "segment_attention",
    "segment_end",
    "sink_by_part_of_speech",
)
# Of a model with a small vocabulary.
SMALL = ("attention_distance",)
# Of a pass that knows how frequent pieces are.
FREQUENCY = ("frequency_attention", "frequency_correlation")
# Of a pass that also knows how often the model predicts pieces.
PREDICTED = ("predicted_attention", "predicted_correlation")
