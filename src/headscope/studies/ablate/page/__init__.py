"""What report, cards and viewer show of `ablate`; never imports torch."""
