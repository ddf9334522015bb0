"""The verbs of ``coalface route``."""
