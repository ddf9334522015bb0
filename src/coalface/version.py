"""The version of coalface."""

__version__ = "1.0.0"
