"""The page of `clusters` for report, cards and viewer; never imports torch."""
