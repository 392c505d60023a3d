"""The page of `prune` for report, cards and viewer; never imports torch."""
