// The test cost of a run's model: every group of threads predicts a test row of its own.

constexpr int PIECE = GROUP_SIZE;  // non-zeros that a group reads together, one a thread
constexpr int MEASURED_TOGETHER = MEASURE_AHEAD < PIECE ? MEASURE_AHEAD : PIECE;

// The slot of a feature, and a value in its unit.
struct TestValue {
  int slot;
  float value;
};

// The j-th non-zero of the test data; after the end of the row, nothing.
DEVICE TestValue test_value(i64 j, i64 stop) {
  if (j >= stop) return {UNSEEN, 0.0f};
  const int slot = b.problem.test_columns[j] + 1;
  const float given = b.problem.test_values[j], unit = b.units[slot];
  if (unit <= 0.0f) return {UNSEEN, 0.0f};
  const float relative = in_unit(fabsf(given), unit);
  return {slot, given > 0.0f ? relative : -relative};
}

DEVICE void add_prediction(Four& predicted, float value, const Four& weight, const Four& scale) {
  predicted.x += weight.x * (value * scale.x);
  predicted.y += weight.y * (value * scale.y);
  predicted.z += weight.z * (value * scale.z);
  predicted.w += weight.w * (value * scale.w);
}

// Predict four labels of the row from `start` to `stop`. All threads of a warp come here, for rows of up to `longest`
// non-zeros: each holds a non-zero for its group, and the next piece is on its way meanwhile.
DEVICE Four predict_test_row(i64 start, i64 stop, int longest, int chunk) {
  Four predicted = {0.0f, 0.0f, 0.0f, 0.0f};
  TestValue next = test_value(start + group_lane(), stop);
  for (int base = 0; base < longest; base += PIECE) {
    const TestValue own = next;
    next = test_value(start + base + PIECE + group_lane(), stop);
    for (int first = 0; first < PIECE && base + first < longest; first += MEASURED_TOGETHER) {
      Four weight[MEASURED_TOGETHER], scale[MEASURED_TOGETHER];
      UNROLL for (int i = 0; i < MEASURED_TOGETHER; i++) {
        const Four* cell = cell_at(b.cells, from_lane_of_group(own.slot, first + i), chunk);
        weight[i] = cell[WEIGHT * N_CHUNKS];
        scale[i] = cell[INVERSE_SCALE * N_CHUNKS];
      }
      UNROLL for (int i = 0; i < MEASURED_TOGETHER; i++)
        add_prediction(predicted, from_lane_of_group(own.value, first + i), weight[i], scale[i]);
    }
  }
  const int intercept = (int)b.problem.n_features + 1;
  if (b.settings.intercept && b.units[intercept] > 0.0f) {
    const Cells cell = cells_of(b.cells, intercept, chunk);
    add_prediction(predicted, 1.0f, cell.weight, cell.scale);
  }
  return predicted;
}

// The label with the least predicted cost of a test row; all threads of a warp come here together.
DEVICE Found best_of_test_row(i64 row) {
  const bool is_there = row < b.problem.n_test;
  const i64 start = is_there ? b.problem.test_indptr[row] : 0, stop = is_there ? b.problem.test_indptr[row + 1] : 0;
  const int longest = warp_max((int)(stop - start));
  Found own = {INFINITY, NOBODY};
  for (int base = 0; base < N_CHUNKS; base += GROUP_SIZE) {
    const int chunk = base + group_lane();
    const Four predicted = predict_test_row(start, stop, longest, min(chunk, N_CHUNKS - 1));
    const float parts[4] = {predicted.x, predicted.y, predicted.z, predicted.w};
    for (int i = 0; i < 4; i++) {
      const Found label = {parts[i], 4 * chunk + i};
      if (label.label < N_LABELS && precedes(label, own)) own = label;
    }
  }
  return least_of(own, GROUP_SIZE);
}

// Add up the test costs of the predictions.
STAGE void measure() {
  double sum = 0.0;
  for (i64 first = 0; first < b.problem.n_test; first += N_GROUPS) {
    const i64 row = first + group_index();
    const Found best = best_of_test_row(row);
    if (group_lane() == 0 && row < b.problem.n_test) {
      const bool abstains = b.settings.abstain_cost < INFINITY && best.value > (float)b.settings.abstain_cost;
      sum += abstains ? (float)b.settings.abstain_cost : b.problem.test_costs[row * N_LABELS + best.label];
    }
  }
  if (thread_index() == 0) b.test_sum = 0.0;
  block_sync();
  for (int group = 0; group < N_GROUPS; group++) {  // one after another: sums that do not depend on the timing
    if (group_index() == group && group_lane() == 0) b.test_sum += sum;
    block_sync();
  }
}
