// Plain C++: what every machine can run.
#include "trees/kernels_impl.hpp"

#include <bit>

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
    static F load_first(const float* p, int n) {
      F x{};
      for (int j = 0; j < n; ++j) x.v[j] = p[j];
      return x;
    }
    static void store_first(float* p, int n, const F& x) {
      for (int j = 0; j < n; ++j) p[j] = x.v[j];
    }
    static F spare(const F& x) {
      F y{};
      y.v[0] = x.v[lanes - 2];
      y.v[1] = x.v[lanes - 1];
      return y;
    }
    static F without_spare(F x) {
      x.v[lanes - 2] = x.v[lanes - 1] = 0.0F;
      return x;
    }
    static F with_spare(F x, const F& spares) {
      x.v[lanes - 2] = spares.v[0];
      x.v[lanes - 1] = spares.v[1];
      return x;
    }
    static F all(float value) {
      F x;
      for (float& v : x.v) v = value;
      return x;
    }
    static F add(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x + y; });
    }
    static F sub(const F& a, const F& b) {
      return each(a, b, [](float x, float y) { return x - y; });
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
    // The halves of two vectors: lane j with lane j + half.
    using Halves = F;
    static Halves halve(const F& a, const F& b) {
      constexpr int half = lanes / 2;
      Halves x;
      for (int j = 0; j < half; ++j) {
        x.v[j] = a.v[j] + a.v[j + half];
        x.v[j + half] = b.v[j] + b.v[j + half];
      }
      return x;
    }
    // The sums of sixteen vectors that were halved.
    static void finish_sums(const Halves* a, float* sums) {
      for (int b = 0; b < 16; ++b) {
        F x = a[b / 2];
        float* part = x.v + (b % 2) * (lanes / 2);
        for (int half = lanes / 4; half > 0; half /= 2) {
          for (int j = 0; j < half; ++j) part[j] += part[j + half];
        }
        sums[b] = part[0];
      }
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
    static I bits_of(const F& a) {
      I x;
      for (int j = 0; j < lanes; ++j) x.v[j] = std::bit_cast<std::int32_t>(a.v[j]);
      return x;
    }
    static F from_bits(const I& a) {
      F x;
      for (int j = 0; j < lanes; ++j) x.v[j] = std::bit_cast<float>(a.v[j]);
      return x;
    }
    static I bits(std::int32_t value) {
      I x;
      for (std::int32_t& v : x.v) v = value;
      return x;
    }
    template <int n>
    static I shift_left(I a) {
      for (std::int32_t& v : a.v) v <<= n;
      return a;
    }
    template <int n>
    static I shift_right(I a) {
      for (std::int32_t& v : a.v) v >>= n;
      return a;
    }
    static F where_zero(const I& n, const F& a, const F& b) {
      F x;
      for (int j = 0; j < lanes; ++j) x.v[j] = n.v[j] == 0 ? a.v[j] : b.v[j];
      return x;
    }
    static F class_floats(const I& a) {
      F x = to_floats(a);
      x.v[lanes - 2] = x.v[lanes - 1] = 0.0F;
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

extern const TreeKernels kPortableTreeKernels;
const TreeKernels kPortableTreeKernels = TreeKernelsOf<Portable>::table();

}  // namespace marginboost
