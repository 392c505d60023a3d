"""What report, cards and viewer show of `clusters`; never imports torch."""
