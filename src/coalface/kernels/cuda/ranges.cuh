// Cost ranges: see kernels/ranges.py.

DEVICE float pull(float gap, float budget) {
  const float cube = gap * gap * gap, share = budget / fmaxf(cube, TINY_CUBE), e = sqrtf(share);
  float t = e * (PULL_START_0 + e * (PULL_START_1 + e * (PULL_START_2 + e * PULL_START_3)));
  t = fmaxf(t - (t * t * (2.0f - t) - share) / fmaxf(t * (4.0f - 3.0f * t), TINY_CUBE), 0.0f);
  t = fmaxf(t - (t * t * (2.0f - t) - share) / fmaxf(t * (4.0f - 3.0f * t), TINY_CUBE), 0.0f);
  return share < 1.0f ? fminf(gap * t, gap) : gap;
}

DEVICE double log_of_costs(i64 round_number) {
  return log((double)max(N_LABELS, 2) * (double)max(round_number - 1, (i64)1));
}

DEVICE double printed_slack(i64 round_number) {
  const double past = (double)max(round_number - 1, (i64)1), features = (double)(b.slots_used - 1);
  const double combined = log(8.0 * EULER * N_LABELS * (features + 1.0) / PRINTED_FAILURE) + 2.0 * log(past);
  return b.settings.mellowness * PRINTED_CONSTANT * (features * log(past) + combined) / past;
}

// The slack of the round, which all labels share: one thread computes it.
DEVICE void set_slack(double log_of_costs) {
  const double slack = b.settings.slack == PRINTED ? printed_slack(b.round) : b.settings.mellowness * log_of_costs;
  b.slack = slack * b.slack_factor;
}

// Compute the lowest and highest cost of every `step`-th label from the first, from predictions and sensitivities.
DEVICE void bound_costs(int first, int step) {
  for (int k = first; k < N_LABELS; k += step) {
    const double noise =
        b.settings.slack == NOISE_SCALED ? (1.0 + b.squared_residuals[k]) / (1.0 + (double)b.answered[k]) : 1.0;
    const float budget = (float)(b.slack * noise), p = clipped(b.predicted[k]), sensitivity = b.sensitivity[k];
    const float down = p, up = 1.0f - p, towards = sensitivity * budget;
    const bool directed = b.settings.sensitivity == DERIVATIVE, is_finite = sensitivity < INFINITY;  // false for NaN too
    const float below = directed ? towards * (2.0f * down) : towards, above = directed ? towards * (2.0f * up) : towards;
    b.lowest[k] = is_finite && b.round > 1 ? fmaxf(p - pull(down, below), 0.0f) : 0.0f;
    b.highest[k] = is_finite && b.round > 1 ? fminf(p + pull(up, above), 1.0f) : 1.0f;
  }
}

// Compute the range of every cost; call `predict_row` and `set_slack` first.
STAGE void compute_ranges() {
  if (b.settings.sensitivity != SHADOW) {
    seen_only_sensitivity();
  } else {
    if (b.settings.accumulator != ADAX) {
      EACH_LABEL_OF_BLOCK(k) {
        const float p = clipped(b.predicted[k]);
        b.gradient[k] = 4.0f * p * p;
      }
      block_sync();  // the sums before are read
      sum_over_row<MEASURES>();
    }
    shadow_sensitivity();
  }
  bound_costs(thread_index(), N_THREADS);
}
