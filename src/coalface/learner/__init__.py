"""The estimator: ask, tell, interview, predict."""
