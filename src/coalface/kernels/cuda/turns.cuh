// Asks about one label of an example after another: see kernels/turns.py. All questions have the same price.

DEVICE bool asks_in_turn(bool warm_up) {
  if (!b.settings.in_turn || b.settings.rule != COAL || warm_up) return false;
  return uniform(b.settings.seed, b.round, TURN_DRAW) >= FULL_SHARE * b.settings.audit_rate;
}

DEVICE bool waits(int reason) {
  return reason == UNCERTAIN || (reason == AUDIT && b.settings.miss_rate <= 1.0);
}

// The marked, waiting label with the lowest raw prediction, the first of equals.
DEVICE int most_promising() {
  Found own = {INFINITY, NOBODY};
  EACH_LABEL(k) {
    const Found label = {b.predicted[k], k};
    if (b.mask[k] && waits(b.reasons[k]) && precedes(label, own)) own = label;
  }
  return least_of(own, WARP).label;
}

// Answer the marked questions from known costs, one after another; returns how many were asked.
DEVICE int answer_in_turn(const float* costs) {
  int n_asked = 0;
  float own_least = INFINITY;
  EACH_LABEL(k) if (b.mask[k] && !waits(b.reasons[k])) {  // an audit, or the rest of an example that is paid for
    own_least = fminf(own_least, costs[k]);
    n_asked++;
  }
  n_asked = warp_sum(n_asked);
  float least = warp_min(own_least);
  for (int question = most_promising(); question != NOBODY; question = most_promising()) {
    least = fminf(least, costs[question]);  // a NaN changes nothing
    n_asked++;
    EACH_LABEL(k) {
      if (k == question) b.reasons[k] = ANSWERED;
      if (b.mask[k] && b.reasons[k] == UNCERTAIN && b.lowest[k] >= least) {
        b.mask[k] = false;
        b.reasons[k] = SETTLED;
      }
    }
  }
  return n_asked;
}
