"""What report, cards and viewer show of `coreference`; never imports torch."""
