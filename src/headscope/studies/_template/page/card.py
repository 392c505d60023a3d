"""The study's part of the card of a head."""

import xarray as xr


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The variables that stand in the index of all heads."""
    return ("template",)
