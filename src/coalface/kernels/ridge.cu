// The steps of the ridge regression on a GPU that are not matrix products: see models/root_regression.py for the
// notation and models/root_steps.py for the same steps in NumPy. Arrays are contiguous, the last axis fastest.

#define MOST 48  // costs of a label that are learned at once; two matrices of this size fit into the memory of a block
#define TILE 64  // columns that multiply_rows reads at once
#define LOST 3e-7  // of the length of a row, where its square is rounded: what is less on the diagonal of U is rounding
#define PAIRS 9  // of rows per thread of multiply_rows: MOST^2 / 256
#define TURNED 8  // rows that a thread of turn_rows adds up at once

// The columns of a table: the intercept, the features, and zeros.
extern "C" __global__ void fill_table(const float* features, long long n_rows, int n_features, int n_columns,
                                      float intercept, float* table) {
    long long size = n_rows * n_columns;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < size;
         i += gridDim.x * (long long)blockDim.x) {
        long long row = i / n_columns;
        int column = (int)(i % n_columns);
        table[i] = column == 0 ? intercept : column <= n_features ? features[row * n_features + column - 1] : 0.0f;
    }
}

// Predictions, lowest and highest costs, one array after the other. The factors are the slack of each row, the noise of
// each label and the spread of each row in features never learned.
extern "C" __global__ void fill_ranges(const double* predicted, const float* spread, const double* factors,
                                       long long n_rows, int n_labels, float* found) {
    const double *slack = factors, *noise = factors + n_rows, *unseen = noise + n_labels;
    long long size = n_rows * n_labels;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < size;
         i += gridDim.x * (long long)blockDim.x) {
        long long row = i / n_labels;
        int label = (int)(i % n_labels);
        float centre = (float)predicted[i];
        float reach = (float)sqrt(slack[row] * noise[label] * ((double)spread[i] + unseen[row]));
        float inside = fminf(fmaxf(centre, 0.0f), 1.0f);
        found[i] = centre;
        found[size + i] = fmaxf(inside - reach, 0.0f);
        found[2 * size + i] = fminf(inside + reach, 1.0f);
    }
}

// One block per told cost: copies its row, zeros where there is none (-1), and computes its error before learning.
extern "C" __global__ void gather_rows(const float* table, const double* weights, const long long* labels,
                                       const long long* rows, const double* costs, int n_told, int n_columns,
                                       float* inputs, double* errors) {
    __shared__ double sums[128];
    long long cost = blockIdx.x;
    long long row = rows[cost];
    const float* source = table + row * n_columns;
    const double* weight = weights + labels[cost / n_told] * n_columns;
    float* target = inputs + cost * n_columns;
    double sum = 0.0;
    for (int column = threadIdx.x; column < n_columns; column += blockDim.x) {
        float value = row < 0 ? 0.0f : source[column];
        target[column] = value;
        sum += (double)value * weight[column];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) errors[cost] = row < 0 ? 0.0 : costs[cost] - sums[0];
}

// One block per label: F F', in 64 bits, so that rows much longer than the penalty leave it positive definite.
extern "C" __global__ void multiply_rows(const float* along, int n_told, int n_columns, double* squares) {
    __shared__ double tile[MOST * (TILE + 1)];  // one number more per row, to spread columns over the banks
    int n = n_told, n_pairs = n * n;
    const float* rows = along + (long long)blockIdx.x * n * n_columns;
    double* target = squares + (long long)blockIdx.x * n_pairs;
    double sums[PAIRS];
    for (int p = 0; p < PAIRS; p++) sums[p] = 0.0;
    for (int first = 0; first < n_columns; first += TILE) {
        for (int i = threadIdx.x; i < n * TILE; i += blockDim.x) {
            int column = first + i % TILE;
            tile[i / TILE * (TILE + 1) + i % TILE] = column < n_columns ? rows[i / TILE * n_columns + column] : 0.0;
        }
        __syncthreads();
        for (int p = 0; p < PAIRS; p++) {
            int pair = threadIdx.x + p * blockDim.x;
            if (pair >= n_pairs || pair % n > pair / n) continue;
            const double *one = tile + pair / n * (TILE + 1), *other = tile + pair % n * (TILE + 1);
            double sum = 0.0;
            for (int c = 0; c < TILE; c++) sum += one[c] * other[c];
            sums[p] += sum;
        }
        __syncthreads();
    }
    for (int p = 0; p < PAIRS; p++) {
        int pair = threadIdx.x + p * blockDim.x;
        if (pair >= n_pairs || pair % n > pair / n) continue;
        target[pair] = sums[p];
        target[pair % n * n + pair / n] = sums[p];
    }
}

// One block per label: from F F' to its matrix B', a row of steps to the weights after it, and its squared residuals.
extern "C" __global__ void solve_labels(const double* squares, const double* errors, const double* costs,
                                        const double* deviations, const long long* rows, int n_told, double* turn,
                                        double* residuals) {
    __shared__ double lower[MOST * MOST], inverse[MOST * MOST], innovations[MOST], least[MOST];
    int n = n_told, thread = threadIdx.x, n_threads = blockDim.x;
    long long first = (long long)blockIdx.x * n;
    const double* noise = deviations + first;
    turn += (long long)blockIdx.x * n * (n + 1);
    for (int i = thread; i < n * n; i += n_threads) {
        lower[i] = squares[first * n + i] + (i / n == i % n ? noise[i / n] * noise[i / n] : 0.0);
        inverse[i] = 0.0;
        if (i / n == i % n) least[i / n] = fmax(noise[i / n], LOST * sqrt(lower[i]));
    }
    __syncthreads();
    for (int j = 0; j < n; j++) {  // Cholesky's factor U
        if (thread == 0) lower[j * n + j] = fmax(sqrt(fmax(lower[j * n + j], 0.0)), least[j]);
        __syncthreads();
        for (int i = j + 1 + thread; i < n; i += n_threads) lower[i * n + j] /= lower[j * n + j];
        __syncthreads();
        for (int i = j + 1 + thread; i < n; i += n_threads)
            for (int k = j + 1; k <= i; k++) lower[i * n + k] -= lower[i * n + j] * lower[k * n + j];
        __syncthreads();
    }
    for (int column = thread; column < n; column += n_threads) {  // its inverse, by forward substitution
        inverse[column * n + column] = 1.0 / lower[column * n + column];
        for (int i = column + 1; i < n; i++) {
            double sum = 0.0;
            for (int k = column; k < i; k++) sum += lower[i * n + k] * inverse[k * n + column];
            inverse[i * n + column] = -sum / lower[i * n + i];
        }
    }
    __syncthreads();
    for (int i = thread; i < n; i += n_threads) {
        double sum = 0.0;
        for (int k = 0; k <= i; k++) sum += inverse[i * n + k] * errors[first + k];
        innovations[i] = sum;
    }
    __syncthreads();
    for (int i = thread; i < n; i += n_threads) {
        double sum = 0.0;
        for (int k = i; k < n; k++) sum += innovations[k] * inverse[k * n + i];
        turn[n * n + i] = sum;
    }
    if (thread == 0) {  // in the order of the rows
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            double expected = costs[first + i] - lower[i * n + i] * innovations[i];
            double residual = costs[first + i] - fmin(fmax(expected, 0.0), 1.0);
            sum += rows[first + i] < 0 ? 0.0 : residual * residual;
        }
        residuals[blockIdx.x] = sum;
    }
    __syncthreads();
    for (int column = thread; column < n; column += n_threads) {  // (U + V)' B' is the inverse
        for (int i = n - 1; i >= 0; i--) {
            double sum = inverse[i * n + column];
            for (int k = i + 1; k < n; k++) sum -= lower[k * n + i] * inverse[k * n + column];
            inverse[i * n + column] = sum / (lower[i * n + i] + noise[i]);
            turn[i * n + column] = inverse[i * n + column];
        }
    }
}

// The product of each label's turn, (n_told + 1, n_told), and its rows F, in 64 bits because large numbers cancel. The
// blocks of a label take blockDim.x columns each.
extern "C" __global__ void turn_rows(const double* turn, const float* along, int n_told, int n_columns, float* turned) {
    __shared__ double shared[MOST * (MOST + 1)];
    int n = n_told;
    turn += (long long)blockIdx.x * n * (n + 1);
    along += (long long)blockIdx.x * n * n_columns;
    turned += (long long)blockIdx.x * (n + 1) * n_columns;
    for (int i = threadIdx.x; i < n * (n + 1); i += blockDim.x) shared[i] = turn[i];
    __syncthreads();
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= n_columns) return;
    for (int first = 0; first <= n; first += TURNED) {
        double sums[TURNED];
        for (int i = 0; i < TURNED; i++) sums[i] = 0.0;
        for (int k = 0; k < n; k++) {
            double value = along[(long long)k * n_columns + column];
            for (int i = 0; i < TURNED; i++) sums[i] += shared[(first + i < n ? first + i : n) * n + k] * value;
        }
        for (int i = 0; i < TURNED; i++)
            if (first + i <= n) turned[(long long)(first + i) * n_columns + column] = (float)sums[i];
    }
}
