"""Streams: files and standard input, read block by block in one pass and constant memory."""
