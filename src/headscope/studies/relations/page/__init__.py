"""The page of `relations` for report, cards and viewer; never imports torch."""
