"""File formats of datasets, one module each; ``readers`` chooses between them."""
