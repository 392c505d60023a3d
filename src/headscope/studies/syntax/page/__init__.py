"""The page of `syntax` for report, cards and viewer; never imports torch."""
