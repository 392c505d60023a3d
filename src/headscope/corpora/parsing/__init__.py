"""Parts of corpus files that several readers parse: lines, columns, sentences, mentions, phrases."""
