"""What report, cards and viewer show of `profile`; never imports torch."""
