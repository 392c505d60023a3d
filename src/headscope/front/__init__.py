"""The ways in: the command line, the Python functions, views for notebooks."""
