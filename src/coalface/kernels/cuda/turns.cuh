// Asks about one label of an example after another: see kernels/turns.py. All questions have the same price.

DEVICE bool asks_in_turn(bool warm_up) {
  if (!b.settings.in_turn || b.settings.rule != COAL || warm_up) return false;
  return uniform(b.settings.seed, b.round, TURN_DRAW) >= FULL_SHARE * b.settings.audit_rate;
}

DEVICE bool waits(int reason) {
  return reason == UNCERTAIN || (reason == AUDIT && b.settings.miss_rate <= 1.0);
}

constexpr int LABELS_PER_LANE = (N_LABELS + WARP - 1) / WARP;

// A lane's labels that wait for their turn, in registers.
struct Waiting {
  float predicted[LABELS_PER_LANE], lowest[LABELS_PER_LANE];
  bool waits[LABELS_PER_LANE];
};

// The waiting label with the lowest raw prediction, the first of equals.
DEVICE int most_promising(const Waiting& waiting) {
  Found own = {INFINITY, NOBODY};
  UNROLL for (int i = 0; i < LABELS_PER_LANE; i++) {
    const Found label = {waiting.predicted[i], lane_index() + i * WARP};
    if (waiting.waits[i] && precedes(label, own)) own = label;
  }
  return least_of(own, WARP).label;
}

// Answer the marked questions from known costs, one after another; returns how many were asked.
DEVICE int answer_in_turn(const float* costs) {
  Waiting waiting;
  int n_asked = 0;
  float own_least = INFINITY;
  UNROLL for (int i = 0; i < LABELS_PER_LANE; i++) {
    const int k = lane_index() + i * WARP;
    const bool marked = k < N_LABELS && b.mask[k];
    waiting.waits[i] = marked && waits(b.reasons[k]);
    waiting.predicted[i] = marked ? b.predicted[k] : INFINITY;
    waiting.lowest[i] = marked && b.reasons[k] == UNCERTAIN ? b.lowest[k] : -INFINITY;  // an audit cannot be settled
    if (marked && !waiting.waits[i]) {  // an audit, or the rest of an example that is paid for
      own_least = fminf(own_least, costs[k]);
      n_asked++;
    }
  }
  n_asked = warp_sum(n_asked);
  float least = warp_min(own_least);
  for (int question = most_promising(waiting); question != NOBODY; question = most_promising(waiting)) {
    least = fminf(least, costs[question]);  // a NaN changes nothing
    n_asked++;
    UNROLL for (int i = 0; i < LABELS_PER_LANE; i++) {
      const int k = lane_index() + i * WARP;
      const bool settled = waiting.lowest[i] >= least && k != question;
      if (!waiting.waits[i] || (!settled && k != question)) continue;
      waiting.waits[i] = false;
      b.reasons[k] = settled ? SETTLED : ANSWERED;
      if (settled) b.mask[k] = false;
    }
  }
  return n_asked;
}
