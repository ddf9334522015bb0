// Online linear regression: see kernels/regression.py for the update rule and its notation.
//
// A slot is a feature's column plus 1, and slot 0 that of every unseen feature. Its cells begin at a line of the cache, so
// that no line is written in part. Labels are contiguous: a group of threads
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

// The place of four labels' weights in the cells of a feature.
DEVICE Four* cell_at(float* cells, int slot, int chunk) {
  float* cell = cells + (size_t)slot * STRIDE;
  ASSUME_GLOBAL(cell);
  return (Four*)cell + chunk;
}

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
    for (int chunk = group_lane(); chunk < N_CHUNKS; chunk += GROUP_SIZE) {
      Four* cell = cell_at(b.cells, -slots[j], chunk);
      cell[WEIGHT * N_CHUNKS] = cell[SQUARES * N_CHUNKS] = none;
      cell[INVERSE_SCALE * N_CHUNKS] = unseen;
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
DEVICE Cells cells_of(float* cells, int slot, int chunk) {
  const Four* cell = cell_at(cells, max(slot, UNSEEN), chunk);
  return {cell[WEIGHT * N_CHUNKS], cell[SQUARES * N_CHUNKS], cell[INVERSE_SCALE * N_CHUNKS]};
}

// Whether the scale of one of four labels may grow.
DEVICE bool may_grow(float value, const Four& scale) {
  return fabsf(value) * fmaxf(fmaxf(scale.x, scale.y), fmaxf(scale.z, scale.w)) > MAY_GROW;
}

// Keep copies of what learning needs of a non-zero, if there is room. A minus before the first sum of squares says that
// a scale may grow.
DEVICE void keep_cells(int j, int chunk, float value, const Cells& cell) {
  if (j >= N_KEPT) return;
  Four squares = cell.squares;
  if (may_grow(value, cell.scale)) squares.x = -squares.x;
  b.kept_weight[j * N_CHUNKS + chunk] = cell.weight;
  b.kept_squares[j * N_CHUNKS + chunk] = squares;
}

struct Kept {
  Four weight, squares;
  bool may_grow;
};

DEVICE Kept kept_cells(int j, int chunk) {
  const int place = j * N_CHUNKS + chunk;
  Kept kept = {b.kept_weight[place], b.kept_squares[place], false};
  kept.may_grow = bits_of(kept.squares.x) >> 31;
  kept.squares.x = fabsf(kept.squares.x);
  return kept;
}

template <int SUMS, bool KEEPS>
DEVICE void add_cells(Summed* sums, int j, float value, const Cells& cell, const Four& gradient, int chunk) {
  add_feature<SUMS>(sums[0], value, cell.weight.x, cell.squares.x, cell.scale.x, gradient.x);
  add_feature<SUMS>(sums[1], value, cell.weight.y, cell.squares.y, cell.scale.y, gradient.y);
  add_feature<SUMS>(sums[2], value, cell.weight.z, cell.squares.z, cell.scale.z, gradient.z);
  add_feature<SUMS>(sums[3], value, cell.weight.w, cell.squares.w, cell.scale.w, gradient.w);
  if (KEEPS) keep_cells(j, chunk, value, cell);
}

// Sum over the non-zeros of the row, for all labels: predictions, norms and reaches, into the arrays of the block.
// MEASURES uses the gradient factors in the block; otherwise the factor is 1. Every thread may go on with its labels.
template <int SUMS, bool KEEPS = false> STAGE void sum_over_row() {
  Row& row = current_row();
  const int n = row.n, *slots = slots_of(row);
  const float* values = values_of(row);
  float *cells = b.cells, *partial = b.partial + group_index() * 3 * LANES;
  for (int chunk = group_lane(); chunk < N_CHUNKS; chunk += GROUP_SIZE) {
    Four gradient = {1.0f, 1.0f, 1.0f, 1.0f};
    if (SUMS == MEASURES) gradient = ((const Four*)b.gradient)[chunk];
    Summed sums[4];
    for (int j = group_index(); j < n; j += AHEAD * N_GROUPS) {
      Cells cell[AHEAD];
      UNROLL for (int i = 0; i < AHEAD; i++)  // several loads under way at once
        cell[i] = cells_of(cells, slots[min(j + i * N_GROUPS, n - 1)], chunk);
      UNROLL for (int i = 0; i < AHEAD; i++) {
        const int own = j + i * N_GROUPS;
        if (own < n) add_cells<SUMS, KEEPS>(sums, own, values[own], cell[i], gradient, chunk);
      }
    }
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

// What is learned of four labels; all numbers of a label that is not learned are 0.
struct Lesson {
  Four step, gradient, keep;
};

DEVICE Lesson lesson_of(int chunk) {
  return {((const Four*)b.step)[chunk], ((const Four*)b.gradient)[chunk], ((const Four*)b.keep)[chunk]};
}

DEVICE void update(float value, float square, float step, float gradient, float keep, float& weight, float& squares) {
  weight += step * over_root(value, fmaxf(squares + gradient * square, TINY));
  squares += keep * square;
}

DEVICE float grown(float scale, float gradient, float inverse) { return gradient > 0.0f ? fminf(scale, inverse) : scale; }

// Update the weights and squares of four labels.
DEVICE void update_cells(Four weight, Four squares, float value, const Lesson& lesson, Four* cell) {
  const Four &step = lesson.step, &gradient = lesson.gradient, &keep = lesson.keep;
  const float square = value * value;
  update(value, square, step.x, gradient.x, keep.x, weight.x, squares.x);
  update(value, square, step.y, gradient.y, keep.y, weight.y, squares.y);
  update(value, square, step.z, gradient.z, keep.z, weight.z, squares.z);
  update(value, square, step.w, gradient.w, keep.w, weight.w, squares.w);
  cell[WEIGHT * N_CHUNKS] = weight;
  cell[SQUARES * N_CHUNKS] = squares;
}

// Update the scales of four labels. Few values are larger than those before, so most scales are neither read nor written.
DEVICE void update_scales(float value, const Four& gradient, Four* cell) {
  const float inverse = 1.0f / fabsf(value);
  Four scale = cell[INVERSE_SCALE * N_CHUNKS];
  scale = {grown(scale.x, gradient.x, inverse), grown(scale.y, gradient.y, inverse), grown(scale.z, gradient.z, inverse),
           grown(scale.w, gradient.w, inverse)};
  cell[INVERSE_SCALE * N_CHUNKS] = scale;
}

// Update the labels with a gradient factor; `gradient` is the factor of the step, `keep` the one that is kept. Up to a warp
// of neighbouring threads share the learned chunks of a feature.
STAGE void apply_steps(int n_chunks) {
  Row& row = current_row();
  const int n = row.n, *slots = slots_of(row), n_kept = b.settings.accumulator == ADAX ? min(N_KEPT, n) : 0;
  const float* values = values_of(row);
  float* const cells = b.cells;
  for (int base = 0; base < n_chunks; base += WARP) {
    const int n_here = min(n_chunks - base, WARP), n_together = N_THREADS / n_here;
    if (thread_index() >= n_together * n_here) continue;
    const int chunk = b.chunks[base + thread_index() % n_here];
    const Lesson lesson = lesson_of(chunk);
    int j = thread_index() / n_here;
    for (; j < n_kept; j += n_together) {
      const Kept kept = kept_cells(j, chunk);
      Four* cell = cell_at(cells, slots[j], chunk);
      update_cells(kept.weight, kept.squares, values[j], lesson, cell);
      if (kept.may_grow) update_scales(values[j], lesson.gradient, cell);
    }
    for (; j < n; j += LEARN_AHEAD * n_together) {
      Cells read[LEARN_AHEAD];
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++)
        read[i] = cells_of(cells, slots[min(j + i * n_together, n - 1)], chunk);
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++) {
        const int own = j + i * n_together;
        if (own >= n) continue;
        Four* cell = cell_at(cells, slots[own], chunk);
        update_cells(read[i].weight, read[i].squares, values[own], lesson, cell);
        if (may_grow(values[own], read[i].scale)) update_scales(values[own], lesson.gradient, cell);
      }
    }
  }
}
