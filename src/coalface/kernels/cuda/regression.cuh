// Online linear regression: see kernels/regression.py for the update rule and its notation.
//
// A slot is a feature's column plus 1, and slot 0 that of every unseen feature. Labels are contiguous: a group of threads
// reads the cells of one feature, four labels a thread, and the groups of a block share the non-zeros of a row.

#ifdef COALFACE_EXACT
constexpr int AHEAD = 1, LEARN_AHEAD = 1, MEASURE_AHEAD = 1;
DEVICE float over_root(float size, float square) { return size / sqrtf(square); }  // rounded as on the CPU
#else
constexpr int AHEAD = 4, LEARN_AHEAD = 2, MEASURE_AHEAD = 8;  // loads under way in a thread
DEVICE float over_root(float size, float square) { return size * rsqrtf(square); }
#endif

constexpr float MAY_GROW = 0.9999f;  // of the size of a value in the label's scale; rounding is less than the rest

DEVICE float clipped(float value) { return fminf(fmaxf(value, 0.0f), 1.0f); }

DEVICE double rate_for(const Row& row) {
  if (b.settings.learning_rate != AUTO_RATE) return b.settings.learning_rate;
  const double mean = (b.row_sizes[0] + (double)row.n) / (b.row_sizes[1] + 1.0);
  return REACH_OF_FIRST_STEP / sqrt(max(mean, 1.0));
}

DEVICE float in_unit(float size, float unit) { return fminf(fmaxf(size / unit, SMALLEST_VALUE), LARGEST_VALUE); }

DEVICE float* cells_at(int slot) { return b.cells + (size_t)slot * 3 * LANES; }

// Set the slot and the value of the j-th non-zero of a row; returns whether its feature is seen.
DEVICE bool set_nonzero(Row& row, int j, int slot, float value) {
  const float unit = b.units[slot];
  const bool seen = unit > 0.0f;
  const float relative = seen ? in_unit(fabsf(value), unit) : 1.0f;
  slots_of(row)[j] = seen ? slot : -slot;
  values_of(row)[j] = value > 0.0f ? relative : -relative;
  return seen;
}

DEVICE float given_value(const Row& row, int j) { return j < row.n_features ? b.problem.values[row.start + j] : 1.0f; }

// Copy the non-zeros of a row, each in its feature's unit; the intercept follows them and has the last slot. The threads
// from `first` share the work.
DEVICE void fetch(Row& row, i64 index, i64 start, i64 stop, int first, int n_threads) {
  const int n_features = (int)(stop - start), n = n_features + (int)b.settings.intercept, thread = thread_index() - first;
  if (thread == 0) {
    row.index = index;
    row.start = start;
    row.n_features = n_features;
    row.n = n;
  }
  for (int j = thread; j < n; j += n_threads) {
    const bool is_feature = j < n_features;
    const int slot = is_feature ? b.problem.columns[start + j] + 1 : (int)b.problem.n_features + 1;
    const bool seen = set_nonzero(row, j, slot, is_feature ? b.problem.values[start + j] : 1.0f);
    if (!seen) row.has_unseen = true;
  }
}

DEVICE void fetch_costs(Row& row, i64 index, int first, int n_threads) {
  const float* costs = b.problem.costs + index * N_LABELS;
  for (int k = thread_index() - first; k < N_LABELS; k += n_threads) row.costs[k] = costs[k];
}

// Give every feature of the row a slot with empty cells.
STAGE void claim_slots() {
  const Four none = {0.0f, 0.0f, 0.0f, 0.0f};
  const Four unseen = {UNSEEN_INVERSE_SCALE, UNSEEN_INVERSE_SCALE, UNSEEN_INVERSE_SCALE, UNSEEN_INVERSE_SCALE};
  Row &row = current_row(), &next = next_row();
  int* slots = slots_of(row);
  for (int j = group_index(); j < row.n; j += N_GROUPS) {
    if (slots[j] > 0) continue;
    Four* cell = (Four*)cells_at(-slots[j]);
    for (int chunk = group_lane(); chunk < N_CHUNKS; chunk += GROUP_SIZE) {
      cell[WEIGHT * N_CHUNKS + chunk] = none;
      cell[SQUARES * N_CHUNKS + chunk] = none;
      cell[INVERSE_SCALE * N_CHUNKS + chunk] = unseen;
    }
  }
  block_sync();
  for (int j = thread_index(); j < row.n; j += N_THREADS) {
    if (slots[j] > 0) continue;
    slots[j] = -slots[j];
    b.units[slots[j]] = fabsf(given_value(row, j));
    count_one(&b.slots_used);
  }
  block_sync();
  if (!next.has_unseen) return;
  for (int j = thread_index(); j < next.n; j += N_THREADS) {  // the next row may share features with this one
    const int slot = slots_of(next)[j];
    if (slot < 0) set_nonzero(next, j, -slot, given_value(next, j));
  }
}

enum Sums { PREDICTIONS, PREDICTIONS_AND_MEASURES, MEASURES, SEEN_ONLY_MEASURES };

struct Summed {
  float predicted = 0.0f, norm = 0.0f, reach = 0.0f;
};

template <int SUMS>
DEVICE void add_feature(Summed& sum, float value, float weight, float squares, float inverse_scale, float gradient) {
  const float size = fabsf(value), square = size * size;
  if (SUMS == PREDICTIONS || SUMS == PREDICTIONS_AND_MEASURES) sum.predicted += weight * (value * inverse_scale);
  if (SUMS == PREDICTIONS_AND_MEASURES || SUMS == MEASURES) {
    const float share = fminf(size * inverse_scale, 1.0f);
    sum.norm += share * share;
    sum.reach += share * over_root(size, squares + gradient * square);
  }
  if (SUMS == SEEN_ONLY_MEASURES) sum.reach += (size * inverse_scale) * over_root(size, squares);
}

template <int SUMS> DEVICE void keep_sums(float* place, int label, const Summed& sum) {
  if (SUMS == PREDICTIONS || SUMS == PREDICTIONS_AND_MEASURES) place[label] = sum.predicted;
  if (SUMS == PREDICTIONS_AND_MEASURES || SUMS == MEASURES) place[LANES + label] = sum.norm;
  if (SUMS != PREDICTIONS) place[2 * LANES + label] = sum.reach;
}

// The cells of four labels for one feature.
struct Cells {
  Four weight, squares, scale;
};

// The cells of a feature; minus a slot stands for an unseen one.
DEVICE Cells cells_of(const float* cells, int slot, int chunk) {
  const Four* cell = (const Four*)(cells + (size_t)max(slot, UNSEEN) * 3 * LANES) + chunk;
  return {cell[WEIGHT * N_CHUNKS], cell[SQUARES * N_CHUNKS], cell[INVERSE_SCALE * N_CHUNKS]};
}

// Keep copies of what learning needs of a non-zero, if there is room. A minus before the first sum of squares says that
// a scale may grow.
DEVICE void keep_cells(int j, int chunk, float value, const Cells& cell) {
  if (j >= N_KEPT) return;
  const float size = fabsf(value), scale = fmaxf(fmaxf(cell.scale.x, cell.scale.y), fmaxf(cell.scale.z, cell.scale.w));
  Four squares = cell.squares;
  if (size * scale > MAY_GROW) squares.x = -squares.x;
  b.kept_weight[j * N_CHUNKS + chunk] = cell.weight;
  b.kept_squares[j * N_CHUNKS + chunk] = squares;
}

template <int SUMS, bool KEEPS>
DEVICE void add_cells(Summed* sums, int j, float value, const Cells& cell, const Four& gradient, int chunk) {
  add_feature<SUMS>(sums[0], value, cell.weight.x, cell.squares.x, cell.scale.x, gradient.x);
  add_feature<SUMS>(sums[1], value, cell.weight.y, cell.squares.y, cell.scale.y, gradient.y);
  add_feature<SUMS>(sums[2], value, cell.weight.z, cell.squares.z, cell.scale.z, gradient.z);
  add_feature<SUMS>(sums[3], value, cell.weight.w, cell.squares.w, cell.scale.w, gradient.w);
  if (KEEPS) keep_cells(j, chunk, value, cell);
}

DEVICE Cells kept_cells(int j, int slot, int chunk) {
  const int place = j * N_CHUNKS + chunk;
  Cells cell = {b.kept_weight[place], b.kept_squares[place], {0.0f, 0.0f, 0.0f, 0.0f}};  // a scale of 0 does not grow
  if (bits_of(cell.squares.x) >> 31) cell.scale = ((const Four*)cells_at(slot))[INVERSE_SCALE * N_CHUNKS + chunk];
  cell.squares.x = fabsf(cell.squares.x);
  return cell;
}

// Sum over the non-zeros of the row, for all labels: predictions, norms and reaches, into the arrays of the block.
// MEASURES uses the gradient factors in the block; otherwise the factor is 1. Every thread may go on with its labels.
template <int SUMS, bool KEEPS = false> STAGE void sum_over_row() {
  Row& row = current_row();
  const int n = row.n, *slots = slots_of(row);
  const float *values = values_of(row), *cells = b.cells;
  float* partial = b.partial + group_index() * 3 * LANES;
  for (int chunk = group_lane(); chunk < N_CHUNKS; chunk += GROUP_SIZE) {
    Four gradient = {1.0f, 1.0f, 1.0f, 1.0f};
    if (SUMS == MEASURES) gradient = ((const Four*)b.gradient)[chunk];
    Summed sums[4];
    int j = group_index();
    for (; j + (AHEAD - 1) * N_GROUPS < n; j += AHEAD * N_GROUPS) {  // several loads under way at once
      Cells cell[AHEAD];
      UNROLL for (int i = 0; i < AHEAD; i++) cell[i] = cells_of(cells, slots[j + i * N_GROUPS], chunk);
      UNROLL for (int i = 0; i < AHEAD; i++)
        add_cells<SUMS, KEEPS>(sums, j + i * N_GROUPS, values[j + i * N_GROUPS], cell[i], gradient, chunk);
    }
    for (; j < n; j += N_GROUPS)
      add_cells<SUMS, KEEPS>(sums, j, values[j], cells_of(cells, slots[j], chunk), gradient, chunk);
    for (int i = 0; i < 4; i++) keep_sums<SUMS>(partial, 4 * chunk + i, sums[i]);
  }
  block_sync();
  EACH_LABEL_OF_BLOCK(k) {
    Summed sum;
    for (int group = 0; group < N_GROUPS; group++) {
      const float* part = b.partial + group * 3 * LANES + k;
      if (SUMS == PREDICTIONS || SUMS == PREDICTIONS_AND_MEASURES) sum.predicted += part[0];
      if (SUMS == PREDICTIONS_AND_MEASURES || SUMS == MEASURES) sum.norm += part[LANES];
      if (SUMS != PREDICTIONS) sum.reach += part[2 * LANES];
    }
    if (SUMS == PREDICTIONS || SUMS == PREDICTIONS_AND_MEASURES) b.predicted[k] = sum.predicted;
    if (SUMS == PREDICTIONS_AND_MEASURES || SUMS == MEASURES) b.norm[k] = sum.norm;
    if (SUMS == SEEN_ONLY_MEASURES) b.sensitivity[k] = sum.reach;
    else if (SUMS != PREDICTIONS) b.reach[k] = sum.reach;
  }
}

// Predict the costs of the row and, for adax, the norm and reach that learning needs. A row that may be learned keeps
// copies of its cells.
template <bool KEEPS> DEVICE void predict_row() {
  if (b.settings.accumulator == ADAX) sum_over_row<PREDICTIONS_AND_MEASURES, KEEPS>();
  else sum_over_row<PREDICTIONS>();
}

DEVICE void seen_only_sensitivity() {
  block_sync();  // the sums before are read
  sum_over_row<SEEN_ONLY_MEASURES>();
  const float rate = (float)b.rate;
  EACH_LABEL_OF_BLOCK(k) {
    const float average_norm = (float)sqrt(b.updates[k] / b.norm_sum[k]);
    b.sensitivity[k] = rate * (b.sensitivity[k] * average_norm);
  }
}

DEVICE void shadow_sensitivity() {
  const float rate = (float)b.rate;
  EACH_LABEL_OF_BLOCK(k) {
    const float average_norm = (float)sqrt((b.updates[k] + 1.0) / (b.norm_sum[k] + (double)b.norm[k]));
    b.sensitivity[k] = rate * (b.reach[k] * average_norm);
  }
}

// The step that brings the prediction p to cost + (p - cost) exp(-2 rate reach).
DEVICE float step_for(float difference, float reach, double rate) {
  const double exponent = rate * (double)reach;
  const double share = exponent >= 1e-6 ? -expm1(-2.0 * exponent) / (double)reach : 2.0 * rate;
  return (float)(share * (double)difference);
}

// Update one label's cell; returns whether its scale has grown.
DEVICE bool update(float value, float step, float gradient, float keep, float& weight, float& squares, float& scale) {
  if (gradient <= 0.0f) return false;
  const float square = value * value, inverse = 1.0f / fabsf(value);
  weight += step * over_root(value, fmaxf(squares + gradient * square, TINY));
  squares += keep * square;
  if (inverse >= scale) return false;
  scale = inverse;
  return true;
}

// Update the cells of four labels and write those that change.
DEVICE void update_cells(Cells cell, float value, const Four& step, const Four& gradient, const Four& keep, float* cells,
                         int chunk) {
  Four &weight = cell.weight, &squares = cell.squares, &scale = cell.scale;
  bool grown = update(value, step.x, gradient.x, keep.x, weight.x, squares.x, scale.x);
  grown |= update(value, step.y, gradient.y, keep.y, weight.y, squares.y, scale.y);
  grown |= update(value, step.z, gradient.z, keep.z, weight.z, squares.z, scale.z);
  grown |= update(value, step.w, gradient.w, keep.w, weight.w, squares.w, scale.w);
  Four* place = (Four*)cells + chunk;
  place[WEIGHT * N_CHUNKS] = weight;
  place[SQUARES * N_CHUNKS] = squares;
  if (grown) place[INVERSE_SCALE * N_CHUNKS] = scale;  // rarely, so most of the scales are not written
}

// Update the labels with a gradient factor; `gradient` is the factor of the step, `keep` the one that is kept. Up to a warp
// of neighbouring threads share the learned chunks of a feature.
STAGE void apply_steps(int n_chunks) {
  Row& row = current_row();
  const int n = row.n, *slots = slots_of(row), n_kept = b.settings.accumulator == ADAX ? min(N_KEPT, n) : 0;
  const float* values = values_of(row);
  for (int base = 0; base < n_chunks; base += WARP) {
    const int n_here = min(n_chunks - base, WARP), n_together = N_THREADS / n_here;
    if (thread_index() >= n_together * n_here) continue;
    const int chunk = b.chunks[base + thread_index() % n_here];
    const Four step = ((const Four*)b.step)[chunk], gradient = ((const Four*)b.gradient)[chunk];
    const Four keep = ((const Four*)b.keep)[chunk];
    int j = thread_index() / n_here;
    for (; j < n_kept; j += n_together)
      update_cells(kept_cells(j, slots[j], chunk), values[j], step, gradient, keep, cells_at(slots[j]), chunk);
    for (; j < n; j += LEARN_AHEAD * n_together) {
      Cells cell[LEARN_AHEAD];
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++)
        cell[i] = cells_of(b.cells, slots[min(j + i * n_together, n - 1)], chunk);
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++) {
        const int own = j + i * n_together;
        if (own < n) update_cells(cell[i], values[own], step, gradient, keep, cells_at(slots[own]), chunk);
      }
    }
  }
}
