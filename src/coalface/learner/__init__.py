"""The learner: a scikit-learn classifier that asks for costs and learns from the answers."""
