"""The page of `ablate` for report, cards and viewer; never imports torch."""
