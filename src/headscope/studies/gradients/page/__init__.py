"""The page of `gradients` for report, cards and viewer; never imports torch."""
