"""``coalface tag``: one module per verb."""
