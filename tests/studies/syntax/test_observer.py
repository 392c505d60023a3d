"""Which heads are right about which words: the same in loops over the definition, in any batches and blocks."""
