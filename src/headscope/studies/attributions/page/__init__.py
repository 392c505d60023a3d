"""The page of `attributions` for report, cards and viewer; never imports torch."""
