"""The version of coalface."""

__version__ = "0.1.0"
