"""Examples as model inputs: pieces, and the words and labels that they belong to."""
