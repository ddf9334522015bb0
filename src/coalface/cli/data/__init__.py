"""``coalface data``: one module per verb."""
