"""Log-probabilities of words in texts, by models that predict masked or next words."""
