// How the code speaks of threads, warps and blocks. Compiled as plain C++ with COALFACE_EMULATED, a warp and a block have
// one thread: the same source then runs on a CPU, for tests.

#ifdef COALFACE_EMULATED
#include <cmath>
#include <cstdint>
#include <cstring>
#include <algorithm>
#define DEVICE static inline
#define STAGE static
#define UNROLL
#define ASSUME_GLOBAL(pointer)
#define COALFACE_EXACT
#define KERNEL extern "C" void
#define BOUNDS
typedef long long i64;
typedef unsigned long long u64;
struct Four { float x, y, z, w; };
constexpr int WARP = 1;
DEVICE int thread_index() { return 0; }
static int emulated_block = 0;
DEVICE int block_index() { return emulated_block; }
DEVICE void block_sync() {}
DEVICE void warp_sync() {}
template <class T> DEVICE T from_lane_xor(T value, int) { return value; }
template <class T> DEVICE T from_first_lane(T value) { return value; }
template <class T> DEVICE T from_lane_of_group(T value, int) { return value; }
DEVICE int warp_max(int value) { return value; }
DEVICE unsigned lanes_with(bool flag) { return flag; }
DEVICE int count_bits(unsigned bits) { return bits & 1; }
DEVICE int take_next(int* counter) { return (*counter)++; }
DEVICE void count_one(i64* counter) { (*counter)++; }
DEVICE void take_least(u64* least, u64 value) { *least = std::min(*least, value); }
DEVICE void count_one(int* counter) { (*counter)++; }
DEVICE int read_flag(const int* flag) { return *flag; }
DEVICE unsigned bits_of(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
using std::isnan;
using std::max;
using std::min;
#else
#define DEVICE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ASSUME_GLOBAL(pointer) __builtin_assume(__isGlobal(pointer))  // faster loads and stores
#define STAGE static __device__ __noinline__  // with registers of its own
#define KERNEL extern "C" __global__ void
#define BOUNDS __launch_bounds__(N_THREADS, BLOCKS_PER_PROCESSOR)
typedef long long i64;
typedef unsigned long long u64;
typedef float4 Four;
constexpr int WARP = 32;
#ifndef INFINITY  // NVRTC has no math.h
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#endif
DEVICE int thread_index() { return threadIdx.x; }
DEVICE int block_index() { return blockIdx.x; }
DEVICE void block_sync() { __syncthreads(); }
DEVICE void warp_sync() { __syncwarp(); }
template <class T> DEVICE T from_lane_xor(T value, int distance) { return __shfl_xor_sync(0xffffffffu, value, distance); }
template <class T> DEVICE T from_first_lane(T value) { return __shfl_sync(0xffffffffu, value, 0); }
template <class T> DEVICE T from_lane_of_group(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane, GROUP_SIZE);
}
DEVICE int warp_max(int value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}
DEVICE unsigned lanes_with(bool flag) { return __ballot_sync(0xffffffffu, flag); }
DEVICE int count_bits(unsigned bits) { return __popc(bits); }
DEVICE int take_next(int* counter) { return atomicAdd(counter, 1); }
DEVICE void count_one(i64* counter) { atomicAdd((u64*)counter, 1ull); }
DEVICE void take_least(u64* least, u64 value) { atomicMin(least, value); }
DEVICE void count_one(int* counter) { atomicAdd(counter, 1); }
DEVICE int read_flag(const int* flag) { return *(volatile const int*)flag; }
DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
#endif

DEVICE int lane_index() { return thread_index() % WARP; }

template <class T> DEVICE T warp_sum(T value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) value += from_lane_xor(value, distance);
  return value;
}

DEVICE float warp_min(float value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) value = fminf(value, from_lane_xor(value, distance));
  return value;
}

// A number that orders as `value` does; -0 equals 0.
DEVICE unsigned in_order(float value) {
  const unsigned bits = bits_of(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// A label and a number that belongs to it.
struct Found {
  float value;
  int label;  // NOBODY: none
};
constexpr int NOBODY = -1;

DEVICE bool precedes(Found a, Found b) {
  return b.label == NOBODY || (a.label != NOBODY && (a.value < b.value || (a.value == b.value && a.label < b.label)));
}

// The least value of a group of `width` lanes, the first label of equals.
DEVICE Found least_of(Found own, int width) {
#if __CUDA_ARCH__ >= 800
  if (width == WARP) {
    const unsigned place = own.label == NOBODY ? ~0u : in_order(own.value), least = __reduce_min_sync(~0u, place);
    const int label = (int)__reduce_min_sync(~0u, place == least ? (unsigned)own.label : (unsigned)NOBODY);
    const unsigned bits = least & 0x80000000u ? least & 0x7fffffffu : ~least;
    return {__uint_as_float(bits), label};
  }
#endif
  for (int distance = width / 2; distance > 0; distance /= 2) {
    Found other = {from_lane_xor(own.value, distance), from_lane_xor(own.label, distance)};
    if (precedes(other, own)) own = other;
  }
  return own;
}
