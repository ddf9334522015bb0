"""How reports look: pages, the style of figures, numbers as text."""
