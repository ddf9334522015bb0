"""``coalface parse``: one module per verb."""
