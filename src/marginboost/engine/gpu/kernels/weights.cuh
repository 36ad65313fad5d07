// The weight of a pair (row, class). LOSS: 0 exponential, 1 logistic. PAIRED: 1 if pairs of classes count
// more or less.

__device__ inline float weight_of(float e) { return LOSS == 0 ? e : e / (1.0F + e); }

// log(1 + e) by the operations of `marginboost.engine.trees.row_loss`, with the same bits.
__device__ inline float log_one_plus(float e) {
  const i32 bits = __float_as_int(1.0F + e);
  const i32 n = (bits - 0x3F400000) >> 23;
  const float f = n == 0 ? e : __int_as_float(bits - (n << 23)) - 1.0F;
  const float s = f / (2.0F + f);
  const float z = s * s;
  float series = 2.0F / 7.0F;
  series = series * z + 2.0F / 5.0F;
  series = series * z + 2.0F / 3.0F;
  series = series * z + 2.0F;
  return static_cast<float>(n) * 0.693147180559945309F + s * series;
}

__device__ inline i32 rounded(float value) { return __float2int_rn(value); }
