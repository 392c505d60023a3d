"""The page of `induction` for report, cards and viewer; never imports torch."""
