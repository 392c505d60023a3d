"""The page of `shrink`: what report, cards and viewer show of it; never imports torch."""
