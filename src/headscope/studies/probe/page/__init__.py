"""What report, cards and viewer show of `probe`; never imports torch."""
