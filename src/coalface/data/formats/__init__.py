"""One module per file format, and the readers that choose between them."""
