"""How often 95% intervals contain the value of a whole corpus, where a sample is whole documents."""
