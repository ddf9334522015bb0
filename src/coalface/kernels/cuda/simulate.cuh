// Whole runs: ask, answer and learn row after row, and measure the test cost at the checkpoints. A block plays one run
// at a time, in the order of kernels/online.py; a warp of it decides, and all its threads sum, learn and predict.

// The round that comes next: its slack and learning rate. One thread computes them.
DEVICE void prepare_round(const Row& row, double log_of_costs) {
  b.rate = rate_for(row);
  b.slack_factor = pace() * (b.settings.miss_rate <= 1.0 ? exp(b.log_factor) : 1.0);
  set_slack(log_of_costs);
}

// Look up which row is played at a position, and where its non-zeros are.
DEVICE void look_ahead(i64 position) {
  if (position >= b.problem.n_rows) return;
  const i64 index = b.problem.orders[b.settings.order * b.problem.n_rows + position];
  i64* ahead = b.ahead[position & 1];
  ahead[0] = index;
  ahead[1] = b.problem.indptr[index];
  ahead[2] = b.problem.indptr[index + 1];
}

// Fetch the row of a position, which was looked up before; the threads from `first` share the work.
DEVICE void fetch_at(i64 position, int first, int n_threads) {
  if (position >= b.problem.n_rows) return;
  const i64* ahead = b.ahead[position & 1];
  Row& row = b.rows[position & 1];
  fetch(row, ahead[0], ahead[1], ahead[2], first, n_threads);
  fetch_costs(row, ahead[0], first, n_threads);
}

STAGE void reset_run() {
  const int slots = (int)b.problem.n_features + 2;
  for (int slot = thread_index(); slot < slots; slot += N_THREADS) b.units[slot] = 0.0f;
  EACH_LABEL_OF_BLOCK(k) {
    b.norm_sum[k] = b.updates[k] = b.squared_residuals[k] = 0.0;
    b.answered[k] = b.asked[k] = b.was_best[k] = 0;
    b.cells[k + WEIGHT * LANES] = b.cells[k + SQUARES * LANES] = 0.0f;  // of the unseen feature
    b.cells[k + INVERSE_SCALE * LANES] = UNSEEN_INVERSE_SCALE;
  }
  if (b.implied != nullptr && b.settings.in_turn) {
    const size_t size = (size_t)LANES * LEVELS * LANES * 2;
    for (size_t i = thread_index(); i < size; i += N_THREADS) b.implied[i] = 0.0f;
  }
  for (int i = thread_index(); i < LEVELS * COUNT_CLASSES * 2; i += N_THREADS) b.trust_tests[i] = 0.0;
  if (thread_index() == 0) {
    b.row_sizes[0] = b.row_sizes[1] = b.log_factor = 0.0;
    b.round = b.slots_used = 1;
    b.examples_queried = b.costs_queried = 0;
    b.target = b.is_stopping = 0;
  }
  if (thread_index() == 0) {
    look_ahead(0);
    look_ahead(1);
  }
  block_sync();
  set_trust();
  fetch_at(0, 0, N_THREADS);
  block_sync();
  if (thread_index() == 0) prepare_round(b.rows[0], log_of_costs(b.round));
  block_sync();
}

// Move the slack's factor if the round has a full audit: see kernels/calibration.py. One warp does.
DEVICE void update_calibration() {
  if (b.settings.miss_rate > 1.0 || b.settings.audit_rate <= 0.0 || !is_fully_audited()) return;
  const int answer = best_answer();
  float own_audited = INFINITY, own_others = (float)b.settings.abstain_cost;
  EACH_LABEL(k) if (b.mask[k] && !isnan(b.costs[k])) {
    if (b.audited[k] && k != answer) own_audited = fminf(own_audited, b.costs[k]);
    else own_others = fminf(own_others, b.costs[k]);
  }
  const float audited = warp_min(own_audited), others = warp_min(own_others);
  if (others == INFINITY || lane_index() != 0) return;
  const double missed = audited < others - TIE ? 1.0 : 0.0;
  b.log_factor = min(max(b.log_factor + CALIBRATION_STEP * (missed - b.settings.miss_rate), LEAST_LOG), LARGEST_LOG);
}

constexpr u64 NO_COST = ~0ull;

// One warp decides which costs to ask for.
STAGE void choose_questions(bool warm_up) {
  const bool paced = b.settings.budget < INFINITY;
  int n_asked = paced ? decide_within_budget(warm_up) : decide(warm_up);
  if (n_asked > 0 && asks_in_turn(warm_up)) n_asked = answer_in_turn(current_row().costs);
  if (lane_index() == 0) {
    b.n_asked = n_asked;
    b.any_learned = false;
    b.cheapest = NO_COST;
  }
}

// Compute the step of an answered label.
DEVICE void set_step(int k) {
  const float difference = b.costs[k] - clipped(b.predicted[k]);
  b.norm_sum[k] += (double)b.norm[k];
  b.updates[k] += 1.0;
  const float average_norm = (float)sqrt(b.updates[k] / b.norm_sum[k]);
  b.step[k] = step_for(difference, b.reach[k] * average_norm, b.rate) * average_norm;
}

// Take the answers, and prepare what is learned from them; the threads share the labels.
STAGE void take_answers(i64 position) {
  EACH_LABEL_OF_BLOCK(k) {
    const bool asked = k < N_LABELS && b.mask[k];
    const float cost = asked ? current_row().costs[k] : NAN;
    b.costs[k] = cost;
    b.step[k] = b.gradient[k] = b.keep[k] = 0.0f;
    if (k < N_LABELS && position < b.problem.n_traced)
      b.problem.traced[(b.run * b.problem.n_traced + position) * N_LABELS + k] = asked;
    b.asked[k] += asked;
    if (isnan(cost)) continue;
    const float difference = clipped(b.predicted[k]) - cost;
    b.squared_residuals[k] += (double)difference * (double)difference;
    b.answered[k]++;
    take_least(&b.cheapest, (u64)in_order(cost) << 32 | (u64)k);
    if (difference == 0.0f) continue;
    b.gradient[k] = b.keep[k] = b.settings.accumulator == ADAX ? 1.0f : 4.0f * difference * difference;
    b.any_learned = true;
    if (b.settings.accumulator == ADAX) set_step(k);
  }
}

// List the groups of four labels with something to learn, and their neighbours: the memory writes eight labels as fast as
// four. Every warp writes the same list. Returns its length.
DEVICE int list_chunks() {
  int n = 0;
  for (int base = 0; base < N_CHUNKS; base += WARP) {
    const int chunk = base + lane_index();
    bool active = false;
    if (chunk < N_CHUNKS) {
      const Four gradient = ((const Four*)b.gradient)[chunk];
      active = gradient.x > 0.0f || gradient.y > 0.0f || gradient.z > 0.0f || gradient.w > 0.0f;
    }
    active |= from_lane_xor((int)active, 1) != 0;
    const unsigned bits = lanes_with(active);
    if (active) b.chunks[n + count_bits(bits & ((1u << lane_index()) - 1u))] = chunk;
    n += count_bits(bits);
  }
  warp_sync();
  return n;
}

// Count the round, and prepare the next one. One thread does, while the others learn.
STAGE void finish_round(i64 position) {
  if (b.cheapest != NO_COST) {
    b.was_best[(int)(b.cheapest & 0xffffffffu)]++;
    b.row_sizes[0] += (double)current_row().n;
    b.row_sizes[1] += 1.0;
  }
  b.round++;
  b.examples_queried += b.n_asked > 0;
  b.costs_queried += b.n_asked;
  b.is_stopping = position % 256 == 0 && read_flag(b.problem.stop);
  prepare_round(next_row(), b.next_log);
}

// Compute all steps; those of adax are there already.
DEVICE void set_steps() {
  if (b.settings.accumulator == ADAX) return;
  sum_over_row<MEASURES>();
  EACH_LABEL_OF_BLOCK(k) if (b.gradient[k] > 0.0f) set_step(k);
  block_sync();
}

STAGE void learn_row() {
  if (current_row().has_unseen) claim_slots();
  apply_steps(list_chunks());
}

// Measure if the run has asked for as many costs as the next target, or ends here.
DEVICE void measure_if_due(bool at_end) {
  const bool due = b.target < b.problem.n_targets && b.costs_queried >= b.problem.targets[b.target];
  if (!due && !at_end) return;
  measure();
  if (thread_index() == 0) {
    const i64 place = b.run * (b.problem.n_targets + 1) + b.problem.n_measured[b.run];
    b.problem.counts[3 * place] = b.costs_queried;
    b.problem.counts[3 * place + 1] = b.examples_queried;
    b.problem.counts[3 * place + 2] = b.round - 1;
    b.problem.test_cost[place] = b.test_sum;
    b.problem.n_measured[b.run]++;
    while (b.target < b.problem.n_targets && b.costs_queried >= b.problem.targets[b.target])
      b.target++;
  }
  block_sync();
}

STAGE void play_row(i64 position) {
  b.current = (int)(position & 1);
  if (thread_index() == 0) next_row().has_unseen = false;
  const i64 index = current_row().index;
  for (int k = thread_index(); k < N_LABELS; k += N_THREADS)
    b.candidates[k] = b.problem.candidates == nullptr || b.problem.candidates[index * N_LABELS + k];
  predict_row<true>();
  const bool warm_up = in_warm_up();
  if (b.settings.budget < INFINITY || (b.settings.rule != PASSIVE && !warm_up)) compute_ranges();
  block_sync();
  if (is_deciding()) choose_questions(warm_up);
  if (thread_index() >= FIRST_FETCHING) fetch_at(position + 1, FIRST_FETCHING, N_FETCHING);
  if (thread_index() == N_THREADS - 1) {
    look_ahead(position + 2);
    b.next_log = log_of_costs(b.round + 1);
  }
  block_sync();
  if (b.n_asked > 0) take_answers(position);
  block_sync();
  if (b.cheapest != NO_COST && learns_implied()) learn_settled();
  if (b.any_learned) set_steps();
  if (is_deciding()) update_calibration();
  warp_sync();
  if (thread_index() == 0) finish_round(position);
  if (b.any_learned) learn_row();
  block_sync();
}

// Play the runs that no other block has taken yet, one after another.
DEVICE void play_runs(const Settings* settings, int n_runs) {
  while (true) {
    if (thread_index() == 0) {
      const int run = read_flag(b.problem.stop) ? n_runs : take_next(b.problem.next_run);
      b.run = run;
      if (run < n_runs) b.settings = settings[run];
    }
    block_sync();
    if (b.run >= n_runs) return;
    reset_run();
    for (i64 position = 0; position < b.problem.n_rows; position++) {
      measure_if_due(false);
      play_row(position);
      if (b.is_stopping) return;
    }
    measure_if_due(true);
    if (thread_index() == 0) take_next(b.problem.n_finished);
    block_sync();
  }
}

KERNEL BOUNDS simulate_runs(const Problem* problem, const Settings* settings, int n_runs) {
  begin_block(problem, block_index());
  play_runs(settings, n_runs);
}
