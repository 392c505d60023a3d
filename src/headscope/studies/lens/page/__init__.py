"""The page of `lens` for report and viewer; never imports torch."""
