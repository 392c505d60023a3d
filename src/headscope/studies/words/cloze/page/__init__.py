"""The page of `cloze` for report and viewer; never imports torch."""
