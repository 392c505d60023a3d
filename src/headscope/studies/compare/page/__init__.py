"""What report, cards and viewer show of `compare`; never imports torch."""
