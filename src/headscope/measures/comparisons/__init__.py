"""One statistic of two models' attention per file: as in `measures`, but read off the same rows of both."""
