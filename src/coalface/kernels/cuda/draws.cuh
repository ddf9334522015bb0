// Pseudo-random numbers that depend only on their arguments: see kernels/draws.py.

constexpr u64 GOLDEN_64 = 0x9E3779B97F4A7C15ull;

DEVICE u64 mix(u64 bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
  return bits ^ (bits >> 31);
}

DEVICE double uniform(i64 seed, i64 round_number, int draw) {
  u64 bits = mix((u64)seed * GOLDEN_64 + GOLDEN_64);
  bits = mix(bits + (u64)round_number * GOLDEN_64);
  bits = mix(bits + (u64)draw * GOLDEN_64);
  return (double)(bits >> 11) / 9007199254740992.0;
}
