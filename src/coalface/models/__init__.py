"""Cost models: what predicts the costs, how sure it is of them, and how it learns. ``contract`` says what all offer."""
