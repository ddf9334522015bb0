"""Datasets by name: those that scikit-learn bundles or downloads, and those of the folder in ``COALFACE_DATA``."""

from coalface.studies.known.catalogue import KnownData, known_data, load_known

__all__ = ["KnownData", "known_data", "load_known"]
