"""Ways to make one model smaller, side by side on one task: scores over seeds, bytes, milliseconds, and one figure."""
