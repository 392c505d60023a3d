"""The page of `landscape` for report and viewer; never imports torch."""
