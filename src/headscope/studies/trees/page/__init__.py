"""The page of `trees` for report, cards and viewer; never imports torch."""
