"""The page of `compare` for report, cards and viewer; never imports torch."""
