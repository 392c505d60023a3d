"""What report, cards and viewer show of `prune`; never imports torch."""
