"""The page of `_template`: what report, cards and viewer show of it; never imports torch."""
