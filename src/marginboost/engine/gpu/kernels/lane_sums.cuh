// Sums of floats in the one order that every engine keeps to. LANES: lanes of a tile. The last two lanes
// are a mass and a count.

constexpr int TILE_CLASSES = LANES - 2;

// Lane j and lane j + half, until one is left. By recursion: all of it stays in registers.
template <int half = LANES / 2>
__device__ __forceinline__ float sum_lanes(float (&values)[LANES]) {
  if constexpr (half > 0) {
#pragma unroll
    for (int j = 0; j < half; ++j) values[j] = values[j] + values[j + half];
    return sum_lanes<half / 2>(values);
  } else {
    return values[0];
  }
}

// Sum of squared lanes over the mass: `lane(c)` is the sum of lane c.
template <class Lane>
__device__ __forceinline__ float score_of(const Lane& lane, float smoothing) {
  float squares[LANES];
#pragma unroll
  for (int j = 0; j < LANES; ++j) {
    const float v = j < TILE_CLASSES ? static_cast<float>(lane(j)) : 0.0F;
    squares[j] = v * v;
  }
  return sum_lanes(squares) / (static_cast<float>(lane(LANES - 2)) + smoothing);
}
