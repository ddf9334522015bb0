// Online linear regression: see kernels/regression.py for the update rule and its notation.
//
// A slot is a feature's column plus 1, and slot 0 that of every unseen feature. Labels are contiguous: a group of threads
// reads the cells of one feature, four labels a thread, and the groups of a block share the non-zeros of a row.

#ifdef COALFACE_EXACT
constexpr int AHEAD = 1, LEARN_AHEAD = 1;
DEVICE float over_root(float size, float square) { return size / sqrtf(square); }  // rounded as on the CPU
#else
constexpr int AHEAD = 4, LEARN_AHEAD = 2;  // loads under way in a thread
DEVICE float over_root(float size, float square) { return size * rsqrtf(square); }
#endif

DEVICE float clipped(float value) { return fminf(fmaxf(value, 0.0f), 1.0f); }

DEVICE double rate_for(const Row& row) {
  if (b.settings.learning_rate != AUTO_RATE) return b.settings.learning_rate;
  const double mean = (b.row_sizes[0] + (double)row.n) / (b.row_sizes[1] + 1.0);
  return REACH_OF_FIRST_STEP / sqrt(max(mean, 1.0));
}

DEVICE float in_unit(float size, float unit) { return fminf(fmaxf(size / unit, SMALLEST_VALUE), LARGEST_VALUE); }

// The slot of the j-th non-zero of a row, seen or not; the intercept has the last one.
DEVICE int own_slot(i64 index, int j) {
  const i64 place = b.problem.indptr[index] + j;
  return place < b.problem.indptr[index + 1] ? b.problem.columns[place] + 1 : (int)b.problem.n_features + 1;
}

// Copy the non-zeros of a row, each in its feature's unit; the intercept follows them. Threads from `first` share the work.
DEVICE void fetch(Row& row, i64 index, int first, int n_threads) {
  const i64 start = b.problem.indptr[index];
  const int n_features = (int)(b.problem.indptr[index + 1] - start), n = n_features + (int)b.settings.intercept;
  const int thread = thread_index() - first;
  if (thread == 0) {
    row.index = index;
    row.n = n;
  }
  for (int j = thread; j < n; j += n_threads) {
    const int slot = own_slot(index, j);
    const float value = j < n_features ? b.problem.values[start + j] : 1.0f, unit = b.units[slot];
    const bool seen = unit > 0.0f;
    const float relative = seen ? in_unit(fabsf(value), unit) : 1.0f;
    if (seen) prefetch(b.cells + (size_t)slot * 3 * LANES, 3 * LANES * sizeof(float));
    else row.has_unseen = true;
    slots_of(row)[j] = seen ? slot : UNSEEN;
    values_of(row)[j] = value > 0.0f ? relative : -relative;
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
  Row& row = current_row();
  int* slots = slots_of(row);
  for (int j = group_index(); j < row.n; j += N_GROUPS) {
    if (slots[j] != UNSEEN) continue;
    Four* cell = (Four*)(b.cells + (size_t)own_slot(row.index, j) * 3 * LANES);
    for (int chunk = group_lane(); chunk < N_CHUNKS; chunk += GROUP_SIZE) {
      cell[WEIGHT * N_CHUNKS + chunk] = none;
      cell[SQUARES * N_CHUNKS + chunk] = none;
      cell[INVERSE_SCALE * N_CHUNKS + chunk] = unseen;
    }
  }
  block_sync();
  for (int j = thread_index(); j < row.n; j += N_THREADS) {
    if (slots[j] != UNSEEN) continue;
    const int slot = own_slot(row.index, j);
    const i64 place = b.problem.indptr[row.index] + j;
    b.units[slot] = place < b.problem.indptr[row.index + 1] ? fabsf(b.problem.values[place]) : 1.0f;
    slots[j] = slot;
    count_one(&b.slots_used);
  }
  block_sync();
  if (next_row().has_unseen) fetch(next_row(), next_row().index, 0, N_THREADS);  // it may share features with this one
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

DEVICE Cells cells_of(const float* cells, int slot, int chunk) {
  const Four* cell = (const Four*)(cells + (size_t)slot * 3 * LANES) + chunk;
  return {cell[WEIGHT * N_CHUNKS], cell[SQUARES * N_CHUNKS], cell[INVERSE_SCALE * N_CHUNKS]};
}

template <int SUMS> DEVICE void add_cells(Summed* sums, float value, const Cells& cell, const Four& gradient) {
  add_feature<SUMS>(sums[0], value, cell.weight.x, cell.squares.x, cell.scale.x, gradient.x);
  add_feature<SUMS>(sums[1], value, cell.weight.y, cell.squares.y, cell.scale.y, gradient.y);
  add_feature<SUMS>(sums[2], value, cell.weight.z, cell.squares.z, cell.scale.z, gradient.z);
  add_feature<SUMS>(sums[3], value, cell.weight.w, cell.squares.w, cell.scale.w, gradient.w);
}

// Sum over the non-zeros of the row, for all labels: predictions, norms and reaches, into the arrays of the block.
// MEASURES uses the gradient factors in the block; otherwise the factor is 1. Every thread may go on with its labels.
template <int SUMS> STAGE void sum_over_row() {
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
      UNROLL for (int i = 0; i < AHEAD; i++) add_cells<SUMS>(sums, values[j + i * N_GROUPS], cell[i], gradient);
    }
    for (; j < n; j += N_GROUPS) add_cells<SUMS>(sums, values[j], cells_of(cells, slots[j], chunk), gradient);
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

// Predict the costs of the row and, for adax, the norm and reach that learning needs.
DEVICE void predict_row() {
  if (b.settings.accumulator == ADAX) sum_over_row<PREDICTIONS_AND_MEASURES>();
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
DEVICE void update_cells(Cells& cell, float value, const Four& step, const Four& gradient, const Four& keep, float* cells,
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
  const int n = row.n, *slots = slots_of(row);
  const float* values = values_of(row);
  for (int base = 0; base < n_chunks; base += WARP) {
    const int n_here = min(n_chunks - base, WARP);
    int bits = 0;
    while ((1 << bits) < n_here) bits++;
    const int place = thread_index() & ((1 << bits) - 1), n_together = N_THREADS >> bits;
    if (place >= n_here) continue;
    const int chunk = b.chunks[base + place];
    const Four step = ((const Four*)b.step)[chunk], gradient = ((const Four*)b.gradient)[chunk];
    const Four keep = ((const Four*)b.keep)[chunk];
    for (int first = thread_index() >> bits; first < n; first += LEARN_AHEAD * n_together) {
      Cells cell[LEARN_AHEAD];
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++) {
        const int j = first + i * n_together;
        if (j < n) cell[i] = cells_of(b.cells, slots[j], chunk);
      }
      UNROLL for (int i = 0; i < LEARN_AHEAD; i++) {
        const int j = first + i * n_together;
        if (j < n) update_cells(cell[i], values[j], step, gradient, keep, b.cells + (size_t)slots[j] * 3 * LANES, chunk);
      }
    }
  }
}
