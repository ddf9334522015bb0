"""What was shown, predicted, asked and answered, round by round, and where that is kept."""
