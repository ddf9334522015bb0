"""Raw values as rows of numbers."""
