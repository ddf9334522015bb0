// What a run reads, keeps and works with. The names are those of kernels/state.py, which the constants come from.
//
// The code is compiled for one number of labels and one shape of blocks: N_LABELS, LANES, STRIDE, N_THREADS, GROUP_SIZE,
// ROW_CAPACITY and N_KEPT are constants. So the arrays of a block are where the compiler knows, and its loops have known
// lengths.

constexpr int N_CHUNKS = LANES / 4;  // a thread takes four labels at a time
constexpr int N_GROUPS = N_THREADS / GROUP_SIZE, N_WARPS = N_THREADS / WARP;

// All fields have eight bytes, so that NumPy describes the same bytes without padding: see layout.py.
struct Settings {
  i64 rule, accumulator, sensitivity, slack, warm_up, in_turn, seed, intercept;
  double mellowness, width_scale, learning_rate, audit_rate, abstain_cost, miss_rate;
  double budget, over, price_per_example, price_per_cost;
  i64 order;  // the row of `orders` that the run follows
};

// The data of all runs, and where their results go. The non-zeros of row i are at indptr[i] to indptr[i + 1] - 1.
struct Problem {
  i64 n_features, longest, n_rows, n_test, n_targets, n_traced, implies;
  const i64 *indptr, *test_indptr;
  const int *columns, *test_columns, *orders;
  const float *values, *test_values, *costs, *test_costs;
  const unsigned char* candidates;  // null: every label is a candidate
  const i64* targets;               // numbers of costs at which the test cost is measured, increasing
  float *cells, *units, *implied;   // a part of each for every block
  int* row_slots;                   // of two rows for every block, where they do not fit into shared memory
  float* row_values;
  i64* counts;            // (runs, targets + 1, 3): costs and examples queried, rounds
  double* test_cost;      // (runs, targets + 1): the sum over the test rows
  int* n_measured;        // (runs,)
  unsigned char* traced;  // (runs, n_traced, labels): the questions at the first positions
  int *next_run, *stop, *n_finished;
};

// A row with its features' slots, its values in the unit of each feature, and its costs. Minus a slot stands for a feature
// that no answer has taught yet.
struct Row {
  i64 index, start;  // its number, and where its non-zeros begin
  int n_features, n, has_unseen;
  float costs[LANES];
  int slots[ROW_CAPACITY];
  float values[ROW_CAPACITY];
};

// The memory of one block, which plays one run at a time. It is in shared memory.
struct Block {
  // one number per label
  double norm_sum[LANES], updates[LANES], squared_residuals[LANES];
  alignas(16) float step[LANES], gradient[LANES], keep[LANES];
  float predicted[LANES], norm[LANES], reach[LANES], lowest[LANES], highest[LANES], sensitivity[LANES], costs[LANES];
  int answered[LANES], asked[LANES], was_best[LANES], order[LANES];
  unsigned char candidates[LANES], mask[LANES], reasons[LANES], audited[LANES];
  // between threads
  alignas(16) float partial[N_GROUPS * 3 * LANES];
  int chunks[N_CHUNKS];  // the groups of four labels that are learned
  double trust[LEVELS * COUNT_CLASSES], trust_tests[LEVELS * COUNT_CLASSES * 2];
  double tests[N_WARPS * LEVELS * COUNT_CLASSES * 2];
  u64 cheapest;  // the least answer and its label
  // one number per run or row
  double row_sizes[2], log_factor, rate, slack, slack_factor, next_log, test_sum;
  i64 round, examples_queried, costs_queried, slots_used;
  int run, n_asked, n_answered, any_learned, target, is_stopping;
  Row rows[2];  // the one that is being played, and the next, which is fetched meanwhile
  int current;
  i64 ahead[2][3];  // of the rows after the next: number, start and end of the non-zeros
  // what learning needs of the first non-zeros' cells: copies, because the cells have left the caches until then
  alignas(16) Four kept_weight[N_KEPT > 0 ? N_KEPT * N_CHUNKS : 1], kept_squares[N_KEPT > 0 ? N_KEPT * N_CHUNKS : 1];
  // the model in global memory
  float *cells, *units, *implied;
  Problem problem;
  Settings settings;
};

#ifdef COALFACE_EMULATED
static Block b;
extern "C" size_t block_bytes() { return sizeof(Block); }
#else
extern __shared__ __align__(16) Block shared_blocks[];
#define b shared_blocks[0]
#endif

DEVICE Row& current_row() { return b.rows[b.current]; }
DEVICE Row& next_row() { return b.rows[1 - b.current]; }

// The slots and values of a row that is too long for shared memory are kept in global memory.
DEVICE size_t global_place(const Row& row) {
  return (2 * (size_t)block_index() + (&row - b.rows)) * (b.problem.longest + 1);
}
DEVICE int* slots_of(Row& row) { return ROW_CAPACITY > 1 ? row.slots : b.problem.row_slots + global_place(row); }
DEVICE float* values_of(Row& row) { return ROW_CAPACITY > 1 ? row.values : b.problem.row_values + global_place(row); }

// `own` is the number of the model that the block works with.
DEVICE void begin_block(const Problem* problem, size_t own) {
  if (thread_index() == 0) {
    b.problem = *problem;
    const size_t slots = problem->n_features + 2;
    b.cells = problem->cells + own * slots * STRIDE;
    b.units = problem->units + own * slots;
    b.implied = problem->implies ? problem->implied + own * LANES * LEVELS * LANES * 2 : nullptr;
  }
  block_sync();
}

// The threads of a block form groups, which share the non-zeros of a row, or the rows of the test data.
DEVICE int group_index() { return thread_index() / GROUP_SIZE; }
DEVICE int group_lane() { return thread_index() % GROUP_SIZE; }

// Every lane of the deciding warp, the first of the block, takes every WARP-th label.
#define EACH_LABEL(k) for (int k = lane_index(); k < N_LABELS; k += WARP)
#define EACH_LABEL_OF_BLOCK(k) for (int k = thread_index(); k < LANES; k += N_THREADS)

DEVICE bool is_deciding() { return thread_index() < WARP; }

// The other warps fetch the next row meanwhile; a single warp does one after the other.
constexpr int FIRST_FETCHING = N_WARPS > 1 ? WARP : 0, N_FETCHING = N_THREADS - FIRST_FETCHING;
