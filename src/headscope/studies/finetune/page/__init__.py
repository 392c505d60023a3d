"""What report, cards and viewer show of `finetune`; never imports torch."""
