"""The page of `structure` for report and viewer; never imports torch."""
