// Plain C++: what every machine can run.
#include "vector_kernels_impl.hpp"

namespace marginboost {
namespace {

struct Portable {
  static void prefetch(const void*) {}

  template <int lanes>
  struct Vec {
    struct F {
      float v[lanes];
    };
    struct I {
      std::int32_t v[lanes];
    };

    template <class Op>
    static F each(const F& a, const F& b, Op op) {
      F x;
      for (int j = 0; j < lanes; ++j) x.v[j] = op(a.v[j], b.v[j]);
      return x;
    }
    static F load(const float* p) {
      F x;
      for (int j = 0; j < lanes; ++j) x.v[j] = p[j];
      return x;
    }
    static void store(float* p, const F& x) {
      for (int j = 0; j < lanes; ++j) p[j] = x.v[j];
    }
    static F all(float value) {
      F x;
      for (float& v : x.v) v = value;
      return x;
    }
    static F add(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x + y; });
    }
    static F mul(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x * y; });
    }
    static F div(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x / y; });
    }
    static F min(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x < y ? x : y; });
    }
    static F max(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x > y ? x : y; });
    }
    static bool any_at_least_one(const F& a) {
      bool any = false;
      for (float v : a.v) any = any || v >= 1.0F;
      return any;
    }
    // Lane j with lane j + half, until one is left.
    static float sum(F a) {
      for (int half = lanes / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; ++j) a.v[j] += a.v[j + half];
      }
      return a.v[0];
    }
    static void sum_sixteen(const F* a, float* sums) {
      for (int b = 0; b < 16; ++b) sums[b] = sum(a[b]);
    }

    static I no_integers() { return I{}; }
    static I load_integers(const std::int32_t* p) {
      I x;
      for (int j = 0; j < lanes; ++j) x.v[j] = p[j];
      return x;
    }
    static void store_integers(std::int32_t* p, const I& x) {
      for (int j = 0; j < lanes; ++j) p[j] = x.v[j];
    }
    static I plus(I a, const I& b) {
      for (int j = 0; j < lanes; ++j) a.v[j] += b.v[j];
      return a;
    }
    static I minus(I a, const I& b) {
      for (int j = 0; j < lanes; ++j) a.v[j] -= b.v[j];
      return a;
    }
    static I times(I a, std::int32_t copies) {
      for (int j = 0; j < lanes; ++j) a.v[j] *= copies;
      return a;
    }
    static I to_integers(const F& a) {
      I x;
      for (int j = 0; j < lanes; ++j) x.v[j] = static_cast<std::int32_t>(std::lrintf(a.v[j]));
      return x;
    }
    static F to_floats(const I& a) {
      F x;
      for (int j = 0; j < lanes; ++j) x.v[j] = static_cast<float>(a.v[j]);
      return x;
    }
  };
};

}  // namespace

extern const VectorKernels kPortableVectorKernels;
const VectorKernels kPortableVectorKernels = VectorKernelsOf<Portable>::table();

}  // namespace marginboost
