// Scores rows with a trained model that all blocks share: predictions and cost ranges of all labels.

// What ranges depend on, besides the weights; the counts have eight bytes, as in kernels/state.py.
struct Trained {
  const double *norm_sum, *updates, *squared_residuals, *row_sizes;
  const i64* answered;
  i64 first_round, round_step, slots_used;
};

DEVICE void load_trained(const Trained& trained) {
  EACH_LABEL_OF_BLOCK(k) {
    b.norm_sum[k] = trained.norm_sum[k];
    b.updates[k] = trained.updates[k];
    b.squared_residuals[k] = trained.squared_residuals[k];
    b.answered[k] = (int)trained.answered[k];
  }
  if (thread_index() == 0) {
    b.row_sizes[0] = trained.row_sizes[0];
    b.row_sizes[1] = trained.row_sizes[1];
    b.slots_used = trained.slots_used;
    b.slack_factor = 1.0;
  }
  block_sync();
}

KERNEL BOUNDS score_rows(const Problem* problem, const Settings* settings, const Trained* trained, int n_blocks,
                         float* predicted, float* lowest, float* highest) {
  begin_block(problem, 0);
  if (thread_index() == 0) b.settings = *settings;
  block_sync();
  load_trained(*trained);
  b.current = 0;
  for (i64 row = block_index(); row < b.problem.n_rows; row += n_blocks) {
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
    for (int k = thread_index(); k < N_LABELS; k += N_THREADS) {
      predicted[row * N_LABELS + k] = b.predicted[k];
      lowest[row * N_LABELS + k] = b.lowest[k];
      highest[row * N_LABELS + k] = b.highest[k];
    }
    block_sync();
  }
}
