"""A paper's tables and figures again: the plan, and the runs."""
