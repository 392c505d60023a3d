"""The page of `layers` for report and viewer; never imports torch."""
