"""At which layer the model's prediction of a word is made: each layer read through the model's own head."""
