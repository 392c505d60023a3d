"""Data sets as netCDF files, written and read by h5py; hostile files are refused."""

from headscope.results.netcdf.reading import stored
from headscope.results.netcdf.writing import written

__all__ = ["stored", "written"]
