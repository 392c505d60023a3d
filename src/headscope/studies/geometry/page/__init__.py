"""The page of `geometry` for report and viewer; never imports torch."""
