// Learns the costs of settled labels from the answered costs of the same example: see kernels/implied.py.

DEVICE int level_of(float cost) { return (int)(cost * (float)(LEVELS - 1) + 0.5f); }

DEVICE int count_class(float count) { return count < 2.0f ? 0 : count < 4.0f ? 1 : count < 16.0f ? 2 : 3; }

DEVICE double trust_in(int level, float count) { return b.trust[level * COUNT_CLASSES + count_class(count)]; }

// Compute the trust in averages of every level and class from their tests; the threads share the classes.
DEVICE void set_trust() {
  for (int i = thread_index(); i < LEVELS * COUNT_CLASSES; i += N_THREADS)
    b.trust[i] = 1.0 - (b.trust_tests[2 * i] + PRIOR_ERROR) / (b.trust_tests[2 * i + 1] + PRIOR_ERROR);
}

DEVICE float* pairs_of(int source, int level) {
  return b.implied + ((size_t)source * LEVELS + level) * LANES * 2;
}

// Write the labels with a flag to `list`, in order; returns their number. `flag(k)` is called for every label.
template <class Flag> DEVICE int list_labels(int* list, Flag flag) {
  int n = 0;
  for (int base = 0; base < N_LABELS; base += WARP) {
    const int k = base + lane_index();
    const bool flagged = k < N_LABELS && flag(k);
    const unsigned bits = lanes_with(flagged);
    if (flagged) list[n + count_bits(bits & ((1u << lane_index()) - 1u))] = k;
    n += count_bits(bits);
  }
  warp_sync();
  return n;
}

// Set the steps of the settled labels with a trusted average, and count these labels; the threads share the labels.
DEVICE void implied_steps() {
  const double rate = b.rate;
  for (int k = thread_index(); k < N_LABELS; k += N_THREADS) {
    if (!isnan(b.costs[k]) || b.reasons[k] != SETTLED) continue;
    double trust = LEAST_TRUST;
    float count = 0.0f, average = 0.0f;
    for (int j = 0; j < b.n_answered; j++) {
      const int source = b.order[j], level = level_of(b.costs[source]);
      const float* pair = pairs_of(source, level) + 2 * k;
      if (pair[COUNT] <= 0.0f) continue;
      const double found = trust_in(level, pair[COUNT]);
      if (found > trust || (found == trust && pair[COUNT] > count)) {
        trust = found;
        count = pair[COUNT];
        average = pair[AVERAGE];
      }
    }
    const float difference = (float)trust * (average - clipped(b.predicted[k]));
    if (count == 0.0f || difference == 0.0f) continue;
    const float average_norm = (float)sqrt((b.updates[k] + 1.0) / (b.norm_sum[k] + (double)b.norm[k]));
    const double known = trust * trust * trust * trust;  // only a nearly certain cost counts as known
    b.step[k] = step_for(difference, b.reach[k] * average_norm, rate) * average_norm;
    b.gradient[k] = 1.0f;
    b.keep[k] = (float)known;
    b.norm_sum[k] += known * (double)b.norm[k];
    b.updates[k] += known;
    b.any_learned = true;
  }
}

// Test the averages of one source on the answers, then add the answers to them. Adds up the errors in `tests`.
DEVICE void update_averages_of(int source, float* pairs, double* tests) {
  double errors[COUNT_CLASSES] = {}, own_errors[COUNT_CLASSES] = {};
  bool has_class[COUNT_CLASSES] = {};
  for (int j = lane_index(); j < b.n_answered; j += WARP) {
    const int label = b.order[j];
    if (label == source) continue;
    float* pair = pairs + 2 * label;
    const float cost = b.costs[label], count = pair[COUNT], average = pair[AVERAGE];
    if (count > 0.0f) {
      const double error = (double)(average - cost), own_error = (double)(clipped(b.predicted[label]) - cost);
      const int of_class = count_class(count);
      UNROLL for (int c = 0; c < COUNT_CLASSES; c++) {  // a loop, so that the sums stay in registers
        errors[c] += c == of_class ? error * error : 0.0;
        own_errors[c] += c == of_class ? own_error * own_error : 0.0;
        has_class[c] |= c == of_class;
      }
    }
    pair[COUNT] = count + 1.0f;
    pair[AVERAGE] = average + (cost - average) / (count + 1.0f);
  }
  UNROLL for (int c = 0; c < COUNT_CLASSES; c++) {
    if (!lanes_with(has_class[c])) continue;
    const double error = warp_sum(errors[c]), own_error = warp_sum(own_errors[c]);
    if (lane_index() == 0) {
      tests[2 * c] += error;
      tests[2 * c + 1] += own_error;
    }
  }
}

// Update the averages of all answered labels; the warps share them, and their tests are added up in a fixed order.
DEVICE void update_averages() {
  constexpr int SIZE = LEVELS * COUNT_CLASSES * 2;
  for (int i = thread_index(); i < N_WARPS * SIZE; i += N_THREADS) b.tests[i] = 0.0;
  block_sync();
  for (int i = thread_index() / WARP; i < b.n_answered; i += N_WARPS) {
    const int source = b.order[i], level = level_of(b.costs[source]);
    float* pairs = pairs_of(source, level);
    if (b.n_answered > MOST_ANSWERS && pairs[2 * b.order[i > 0 ? 0 : 1] + COUNT] >= MOST_COUNTS) continue;
    warp_sync();
    update_averages_of(source, pairs, b.tests + (thread_index() / WARP) * SIZE + level * COUNT_CLASSES * 2);
  }
  block_sync();
  for (int i = thread_index(); i < SIZE; i += N_THREADS)
    for (int warp = 0; warp < N_WARPS; warp++) b.trust_tests[i] += b.tests[warp * SIZE + i];
  block_sync();
  set_trust();
}

// Set the steps of implied costs, then learn from the answers what they imply.
STAGE void learn_settled() {
  if (is_deciding()) {
    const int n_answered = list_labels(b.order, [](int k) { return !isnan(b.costs[k]); });
    if (lane_index() == 0) b.n_answered = n_answered;
  }
  block_sync();
  implied_steps();
  update_averages();
  block_sync();
}

DEVICE bool learns_implied() { return b.implied != nullptr && b.settings.in_turn && b.settings.accumulator == ADAX; }
