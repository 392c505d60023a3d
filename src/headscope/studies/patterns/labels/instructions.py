"""Guide for annotators: the appearance of each pattern."""

from headscope.results.vocabulary import PATTERNS

# In the order of the keys 1 to 5. A picture is scaled to its own maximum.
GUIDE = dict(
    zip(
        PATTERNS,
        (
            "The visible attention is in one or a few columns (usually [CLS], [SEP], punctuation) shared by most rows; "
            "no clear diagonal.",
            "The visible attention lies along the main diagonal or a line or band parallel and close to it; no strong "
            "column through most rows.",
            "Both a clear column through most rows and a diagonal that could be traced with a finger.",
            "Attention spread more or less evenly inside square blocks that follow the segments, or over the whole "
            "sequence, without columns or diagonals standing out.",
            "None of these; also stripes far from the main diagonal (tokens that occur in both sentences).",
        ),
        strict=True,
    )
)
