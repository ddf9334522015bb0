"""What a learner is worth: simulated runs and their curves, the evaluation of a trained learner, logged decisions."""
