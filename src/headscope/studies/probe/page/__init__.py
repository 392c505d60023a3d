"""The page of `probe` for report, cards and viewer; never imports torch."""
