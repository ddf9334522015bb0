"""How good a learner is: simulated runs and their curves, the evaluation of a trained learner, logged decisions."""
