// What a pair (row, class) weighs. LOSS: 0 exponential, 1 logistic, 2 softmax.

__device__ inline float weight_of(float e, float others) {
  if (LOSS == 0) return e;
  if (LOSS == 1) return e / (1.0F + e);
  return e / (1.0F + others);
}

__device__ inline i32 rounded(float value) { return __float2int_rn(value); }
