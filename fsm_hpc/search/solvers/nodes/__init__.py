"""Helpers on other machines for the native search, through dask; an extra of the package."""
