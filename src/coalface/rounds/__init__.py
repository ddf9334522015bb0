"""Rounds: what was shown, predicted, asked and answered about each example, and the ledgers that keep them."""
