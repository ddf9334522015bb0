// The query rules, decided by one warp: see kernels/rules.py. The true label is never asked for, and no label is added
// during a run, so these parts of the rules are not here.

DEVICE bool in_warm_up() {
  const i64 round_number = b.round;
  if (b.settings.warm_up != AUTO_WARM_UP) return round_number <= b.settings.warm_up;
  if (round_number <= SHORTEST_WARM_UP || round_number > LONGEST_WARM_UP) return round_number <= SHORTEST_WARM_UP;
  int n_kinds = 0;
  EACH_LABEL(k) n_kinds += b.was_best[k] > 0;
  return warp_sum(n_kinds) < min(N_LABELS, ENOUGH_BEST_LABELS);
}

// The candidate with the least raw prediction, the first of equals; n_labels stands for abstaining.
DEVICE int best_answer() {
  Found own = {INFINITY, NOBODY};
  EACH_LABEL(k) {
    const Found label = {b.predicted[k], k};
    if (b.candidates[k] && precedes(label, own)) own = label;
  }
  const Found best = least_of(own, WARP);
  const bool abstains = b.settings.abstain_cost < INFINITY && (best.label == NOBODY || best.value > (float)b.settings.abstain_cost);
  return abstains ? N_LABELS : best.label;
}

DEVICE int ask_for_all(int reason) {
  int n_asked = 0;
  EACH_LABEL(k) {
    b.mask[k] = b.candidates[k];
    b.reasons[k] = b.candidates[k] ? reason : NOT_A_CANDIDATE;
    b.audited[k] = false;
    n_asked += b.candidates[k];
  }
  return warp_sum(n_asked);
}

DEVICE int apply_rule() {
  const float threshold = (float)(b.settings.width_scale / sqrt((double)b.round)), abstain_cost = (float)b.settings.abstain_cost;
  float own_best = INFINITY;
  EACH_LABEL(k) if (b.candidates[k]) own_best = fminf(own_best, b.highest[k]);
  const float best_label = warp_min(own_best), guaranteed_cost = fminf(best_label, abstain_cost);
  int n_contenders = 0, n_uncertain = 0;
  EACH_LABEL(k) if (b.candidates[k] && b.lowest[k] <= guaranteed_cost) {
    n_contenders++;
    n_uncertain += b.highest[k] - b.lowest[k] > threshold;
  }
  n_contenders = warp_sum(n_contenders) + (abstain_cost < best_label);
  const bool coal_asks = warp_sum(n_uncertain) > 0 && n_contenders > 1;
  int n_asked = 0;
  EACH_LABEL(k) {
    const bool contender = b.lowest[k] <= guaranteed_cost, wide = b.highest[k] - b.lowest[k] > threshold;
    const bool uncertain = wide && (b.settings.rule == NO_DOMINATION || (contender && coal_asks));
    const bool asked = b.candidates[k] && (uncertain || (b.settings.rule == ALL_OR_NONE && coal_asks));
    b.mask[k] = asked;
    b.reasons[k] = !b.candidates[k] ? NOT_A_CANDIDATE : uncertain ? UNCERTAIN : asked ? WITH_THE_REST : KNOWN_WELL;
    b.audited[k] = false;
    n_asked += asked;
  }
  return warp_sum(n_asked);
}

// With probability `rate`, mark one more label: half of the time the predicted one, otherwise one rarely asked about.
DEVICE int audit(double rate) {
  const i64 round_number = b.round;
  if (uniform(b.settings.seed, round_number, 0) >= rate) return 0;
  const int best = best_answer();
  int drawn = NOBODY;
  warp_sync();
  if (lane_index() == 0) {  // a sum in the order of the labels, as on the CPU; audits are rare
    double total = 0.0;
    for (int k = 0; k < N_LABELS; k++)
      if (b.candidates[k] && !b.mask[k]) total += 1.0 / (1.0 + (double)b.asked[k]);
    const double pick = uniform(b.settings.seed, round_number, 1);
    const double share = best < N_LABELS && !b.mask[best] ? PREDICTED_SHARE : 0.0;
    if (total > 0.0) drawn = best;
    if (total > 0.0 && pick >= share) {
      double left = (pick - share) / (1.0 - share) * total;
      for (int k = 0; k < N_LABELS && left >= 0.0; k++) {
        if (!b.candidates[k] || b.mask[k]) continue;
        drawn = k;
        left -= 1.0 / (1.0 + (double)b.asked[k]);
      }
    }
    if (drawn != NOBODY) {
      b.mask[drawn] = b.audited[drawn] = true;
      b.reasons[drawn] = AUDIT;
    }
  }
  warp_sync();
  return from_first_lane(drawn) != NOBODY;
}

DEVICE bool is_fully_audited() {
  return uniform(b.settings.seed, b.round, 0) < min(b.settings.audit_rate, MOST_AUDITED / N_LABELS);
}

DEVICE int audit_fully() {
  int n_audited = 0;
  if (is_fully_audited()) EACH_LABEL(k) if (b.candidates[k] && !b.mask[k]) {
    b.mask[k] = b.audited[k] = true;
    b.reasons[k] = AUDIT;
    n_audited++;
  }
  return warp_sum(n_audited);
}

DEVICE int decide(bool warm_up) {
  if (b.settings.rule == PASSIVE) return ask_for_all(WITH_THE_REST);
  if (warm_up) return ask_for_all(WARM_UP);
  const int n_asked = apply_rule();
  if (b.settings.audit_rate <= 0.0) return n_asked;
  return n_asked + (b.settings.miss_rate <= 1.0 ? audit_fully() : audit(b.settings.audit_rate));
}
