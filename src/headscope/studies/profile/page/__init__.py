"""The page of `profile` for report, cards and viewer; never imports torch."""
