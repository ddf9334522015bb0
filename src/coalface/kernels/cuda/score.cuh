// Scores rows with a trained model that all blocks share: predictions and cost ranges of all labels, or what questions
// could save.

// What ranges depend on, besides the weights; the counts have eight bytes, as in kernels/state.py.
struct Trained {
  const double *norm_sum, *updates, *squared_residuals, *row_sizes;
  const i64 *answered, *was_best;
  i64 first_round, round_step, slots_used;
};

DEVICE void load_trained(const Trained& trained) {
  EACH_LABEL_OF_BLOCK(k) {
    b.norm_sum[k] = trained.norm_sum[k];
    b.updates[k] = trained.updates[k];
    b.squared_residuals[k] = trained.squared_residuals[k];
    b.answered[k] = (int)trained.answered[k];
    b.was_best[k] = (int)trained.was_best[k];
    b.candidates[k] = true;
  }
  if (thread_index() == 0) {
    b.row_sizes[0] = trained.row_sizes[0];
    b.row_sizes[1] = trained.row_sizes[1];
    b.slots_used = trained.slots_used;
    b.slack_factor = 1.0;
  }
  block_sync();
}

DEVICE void begin_scoring(const Problem* problem, const Settings* settings, const Trained* trained) {
  begin_block(problem, 0);
  if (thread_index() == 0) b.settings = *settings;
  b.current = 0;
  block_sync();
  load_trained(*trained);
}

DEVICE void score_row(i64 row, const Trained* trained) {
  fetch(current_row(), row, b.problem.indptr[row], b.problem.indptr[row + 1], 0, N_THREADS);
  if (thread_index() == 0) {
    b.round = trained->first_round + trained->round_step * row;
    b.rate = rate_for(current_row());
    set_slack(log_of_costs(b.round));
  }
  block_sync();
  predict_row<false>();
  compute_ranges();
  block_sync();
}

// The predicted cost of the answer less the least lowest cost, 0 if nothing is asked: see learner/pool.py.
DEVICE double possible_saving() {
  const int answer = best_answer();
  float own_lowest = (float)b.settings.abstain_cost;
  EACH_LABEL(k) own_lowest = fminf(own_lowest, b.lowest[k]);
  const float reachable = warp_min(own_lowest);
  if (decide(in_warm_up()) == 0) return 0.0;
  const double predicted = answer < N_LABELS ? (double)clipped(b.predicted[answer]) : b.settings.abstain_cost;
  return max(predicted - min((double)reachable, b.settings.abstain_cost), 0.0);
}

KERNEL BOUNDS save_rows(const Problem* problem, const Settings* settings, const Trained* trained, int n_blocks,
                        double* savings) {
  begin_scoring(problem, settings, trained);
  for (i64 row = block_index(); row < b.problem.n_rows; row += n_blocks) {
    score_row(row, trained);
    if (is_deciding()) {
      const double saving = possible_saving();
      if (lane_index() == 0) savings[row] = saving;
    }
    block_sync();
  }
}

KERNEL BOUNDS score_rows(const Problem* problem, const Settings* settings, const Trained* trained, int n_blocks,
                         float* predicted, float* lowest, float* highest) {
  begin_scoring(problem, settings, trained);
  for (i64 row = block_index(); row < b.problem.n_rows; row += n_blocks) {
    score_row(row, trained);
    for (int k = thread_index(); k < N_LABELS; k += N_THREADS) {
      predicted[row * N_LABELS + k] = b.predicted[k];
      lowest[row * N_LABELS + k] = b.lowest[k];
      highest[row * N_LABELS + k] = b.highest[k];
    }
    block_sync();
  }
}
