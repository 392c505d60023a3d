"""What report, cards and viewer show of `patterns`; never imports torch."""
