"""What a measure is tested with: attention and inputs made by hand, and the laws that all measures obey."""
