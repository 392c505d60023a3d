"""Coreference: which heads pick the antecedent of a mention, scored against simple baselines."""
