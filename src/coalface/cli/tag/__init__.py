"""``coalface tag``: one module per verb, and ``--repair``, which two of them have."""
