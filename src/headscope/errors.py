"""What a user can mend: one line that names the thing, the value and the remedy."""


class HeadscopeError(Exception):
    """An error that a user can mend; the command line prints its one line and exits with status 2.

    >>> raise HeadscopeError("corpus 'x.tsv', line 12: 3 columns, expected 4; use --columns")
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: corpus 'x.tsv', line 12: 3 columns, expected 4; use --columns
    """


class DrawingError(HeadscopeError):
    """A page that lacks a part, or a table that could not be printed; the numbers are saved, and the line says where.

    The command line exits with status 1.
    """
