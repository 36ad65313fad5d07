// From the scores of rows to probabilities and labels, with the operations of native/src/predict/link.cpp
// and decision.cpp in the same order. A thread has a row. LABEL_BYTES: bytes of a label.
#include "common.cuh"
#include "exponential.cuh"

#if LABEL_BYTES == 1
using Label = u8;
#elif LABEL_BYTES == 2
using Label = u16;
#elif LABEL_BYTES == 4
using Label = u32;
#else
using Label = u64;
#endif

__device__ inline void scale_to_one(double* scores, i32 n_classes) {
  double sum = 0.0;
  for (i32 r = 0; r < n_classes; ++r) sum += scores[r];
  for (i32 r = 0; r < n_classes; ++r) scores[r] /= sum;
}

__device__ inline i32 place_of_largest(const double* scores, i32 n_classes) {
  i32 best = 0;
  for (i32 r = 1; r < n_classes; ++r) best = scores[r] > scores[best] ? r : best;
  return best;
}

// In place. By softmax(factor * F), or else each class against all others.
extern "C" __global__ void to_probabilities(double* scores, i64 n_rows, i32 n_classes, i32 softmax,
                                            double factor) {
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    double* const row = scores + i * n_classes;
    if (softmax) {
      for (i32 r = 0; r < n_classes; ++r) row[r] *= factor;
      const double largest = row[place_of_largest(row, n_classes)];
      for (i32 r = 0; r < n_classes; ++r) row[r] = exponential(row[r] - largest);
    } else {
      for (i32 r = 0; r < n_classes; ++r) {
        row[r] = max(1.0 / (1.0 + exponential(-2.0 * row[r])), 1e-300);
      }
    }
    scale_to_one(row, n_classes);
  }
}

// The label of the class with the largest score, the first of several.
extern "C" __global__ void best_labels(const double* scores, i64 n_rows, i32 n_classes,
                                       const Label* labels, Label* out) {
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    out[i] = labels[place_of_largest(scores + i * n_classes, n_classes)];
  }
}

// The label of the class with the least expected cost, the first of several.
extern "C" __global__ void cheapest_labels(const double* probabilities, i64 n_rows, i32 n_classes,
                                           const double* costs, const Label* labels, Label* out) {
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    const double* const row = probabilities + i * n_classes;
    i32 best = 0;
    double least = 0.0;
    for (i32 r = 0; r < n_classes; ++r) {
      double expected = 0.0;
      for (i32 a = 0; a < n_classes; ++a) expected += row[a] * costs[i64(a) * n_classes + r];
      if (r == 0 || expected < least) {
        best = r;
        least = expected;
      }
    }
    out[i] = labels[best];
  }
}

// The score of the second of two classes less that of the first.
extern "C" __global__ void differences(const double* scores, i64 n_rows, double* out) {
  for (i64 i = global_thread(); i < n_rows; i += global_threads()) {
    out[i] = scores[2 * i + 1] - scores[2 * i];
  }
}
