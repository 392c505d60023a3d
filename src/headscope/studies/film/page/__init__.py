"""The page of `film` for report, cards and viewer; never imports torch."""
