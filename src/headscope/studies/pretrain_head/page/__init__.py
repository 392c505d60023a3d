"""The page of `pretrain_head` for report and viewer; never imports torch."""
