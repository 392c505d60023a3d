"""The page of `patterns` for report, cards and viewer; never imports torch."""
