"""What report, cards and viewer show of `relations`; never imports torch."""
