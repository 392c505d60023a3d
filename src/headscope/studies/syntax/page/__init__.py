"""What report, cards and viewer show of `syntax`; never imports torch."""
