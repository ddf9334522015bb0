"""The desk: leases, answers, undo, budget."""
