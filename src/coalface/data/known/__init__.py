"""Datasets with a name: bundled with scikit-learn, stored under $COALFACE_DATA, or downloaded."""
