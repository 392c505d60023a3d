"""One statistic per file: what is read off a block of attention rows, and what it comes to for each example."""
