"""When a head is called special."""

# A head is called special only where it beats its baseline by so much, in so many cases, at this rate of errors.
GAIN, LEAST_CASES, RATE = 0.1, 50, 0.05
