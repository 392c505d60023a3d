"""Best heads on a page: selected on one half of the inputs, scored on the other, beside a baseline; never torch."""
