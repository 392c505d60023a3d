"""The page of `coreference` for report, cards and viewer; never imports torch."""
