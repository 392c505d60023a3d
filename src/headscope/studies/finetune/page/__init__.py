"""The page of `finetune` for report, cards and viewer; never imports torch."""
