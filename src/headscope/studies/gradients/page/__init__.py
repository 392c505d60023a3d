"""What report, cards and viewer show of `gradients`; never imports torch."""
