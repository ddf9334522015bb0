"""How good a trained learner is on data with known costs: its mean cost, its mistakes and its calibration."""
