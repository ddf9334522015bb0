// Spreads a budget over the run: see kernels/budgets.py. A run begins with its budget, so nothing was spent before.

DEVICE double spent(double more_examples, double more_costs) {
  return b.settings.price_per_example * ((double)b.examples_queried + more_examples) +
         b.settings.price_per_cost * ((double)b.costs_queried + more_costs);
}

DEVICE double planned_share(i64 rounds_done) {
  return OPENING_SHARE + (1.0 - OPENING_SHARE) * min((double)max(rounds_done, (i64)0) / b.settings.over, 1.0);
}

DEVICE double rounds_left() { return max(b.settings.over + 1.0 - (double)b.round, 1.0); }

// The factor of the slack: above 1 if spending lags the plan, below 1 if it leads.
DEVICE double pace() {
  if (!(b.settings.budget < INFINITY)) return 1.0;
  const double left = b.settings.budget - spent(0.0, 0.0);
  if (left <= 0.0) return 1.0;
  if (left >= rounds_left() * (b.settings.price_per_example + b.settings.price_per_cost * N_LABELS)) return ASK_ALL_FACTOR;
  const double rest = max(1.0 - planned_share(b.round - 1), (1.0 - OPENING_SHARE) / b.settings.over);
  const double ratio = min(max(left / (b.settings.budget * rest), 1.0 / LARGEST_RATIO), LARGEST_RATIO);
  const double fourth = ratio * ratio * ratio * ratio;
  return fourth * fourth * fourth * fourth * fourth;
}

DEVICE double limit() {
  const double first_cost = b.settings.price_per_example + b.settings.price_per_cost;
  const double planned = b.settings.budget * planned_share(b.round), ahead = b.settings.budget * LEAD_SHARE;
  double most = planned + max(ahead, first_cost);
  if (b.settings.price_per_example > 0.0) {
    const double so_far = spent(0.0, 0.0);
    most = so_far <= planned + ahead ? so_far + max(b.settings.budget * OPENING_SHARE, first_cost) : 0.0;
  }
  return min(most, b.settings.budget);
}

// How many costs of one more example fit within the limit, rounded exactly as spending is.
DEVICE int affordable() {
  const double most = limit();
  int n = 0;
  while (n < N_LABELS && spent(1.0, n + 1.0) <= most) n++;
  return n;
}

// Drop the questions with the narrowest ranges, the later of equals first, until `n_allowed` are left.
DEVICE int trim(int n_asked, int n_allowed) {
  for (; n_asked > n_allowed; n_asked--) {
    Found own = {INFINITY, NOBODY};
    EACH_LABEL(k) {
      const Found label = {b.highest[k] - b.lowest[k], N_LABELS - k};  // so that the last of equals comes first
      if (b.mask[k] && precedes(label, own)) own = label;
    }
    const int dropped = N_LABELS - least_of(own, WARP).label;
    EACH_LABEL(k) if (k == dropped) {
      b.mask[k] = false;
      b.reasons[k] = OVER_BUDGET;
    }
  }
  return n_asked;
}

// Decide again on an example that is paid for in any case: only its single costs still have a price.
DEVICE int decide_with_example_paid() {
  if (b.settings.price_per_cost == 0.0) return ask_for_all(WITH_THE_REST);
  warp_sync();
  if (lane_index() == 0) b.slack *= 1.0 + b.settings.price_per_example / b.settings.price_per_cost;
  warp_sync();
  bound_costs(lane_index(), WARP);
  return apply_rule();
}

DEVICE double audit_rate() {
  const double per_round = (b.settings.budget - spent(0.0, 0.0)) / rounds_left();
  return min(b.settings.audit_rate, AUDIT_SHARE * per_round / (b.settings.price_per_example + b.settings.price_per_cost));
}

DEVICE int decide_within_budget(bool warm_up) {
  const int n_allowed = affordable();
  if (b.settings.rule == PASSIVE) return trim(ask_for_all(WITH_THE_REST), n_allowed);
  int n_candidates = 0;
  EACH_LABEL(k) n_candidates += b.candidates[k];
  n_candidates = warp_sum(n_candidates);
  if (warm_up && spent(1.0, (double)n_candidates) <= b.settings.budget * OPENING_SHARE)
    return trim(ask_for_all(WARM_UP), n_allowed);
  int n_asked = apply_rule();
  if (n_asked > 0 && b.settings.price_per_example > 0.0) n_asked = decide_with_example_paid();
  n_asked = trim(n_asked, n_allowed);
  if (b.settings.audit_rate > 0.0 && n_asked < n_allowed) n_asked += audit(audit_rate());
  return n_asked;
}
