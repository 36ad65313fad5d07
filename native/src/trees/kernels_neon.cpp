#if defined(__aarch64__)
#include "trees/kernels_impl.hpp"

#include <arm_neon.h>

#include <cstring>

namespace marginboost {
namespace {

struct Neon {
  static void prefetch(const void* p) { __builtin_prefetch(p); }

  template <int lanes>
  struct Vec {
    static constexpr int count = lanes / 4;
    struct F {
      float32x4_t v[count];
    };
    struct I {
      int32x4_t v[count];
    };

    template <class Op>
    static F make_floats(Op op) {
      F x;
      for (int j = 0; j < count; ++j) x.v[j] = op(j);
      return x;
    }
    template <class Op>
    static I make_integers(Op op) {
      I x;
      for (int j = 0; j < count; ++j) x.v[j] = op(j);
      return x;
    }

    static F load(const float* p) {
      return make_floats([&](int j) { return vld1q_f32(p + 4 * j); });
    }
    static void store(float* p, const F& x) {
      for (int j = 0; j < count; ++j) vst1q_f32(p + 4 * j, x.v[j]);
    }
    // To the byte: what lies behind may not be ours.
    static F load_first(const float* p, int n) {
      float room[lanes] = {};
      std::memcpy(room, p, sizeof(float) * static_cast<std::size_t>(n));
      return load(room);
    }
    static void store_first(float* p, int n, const F& x) {
      float room[lanes];
      store(room, x);
      std::memcpy(p, room, sizeof(float) * static_cast<std::size_t>(n));
    }
    // The last two lanes, as the first two of a vector.
    static F spare(const F& x) {
      F y = all(0.0F);
      y.v[0] = vcombine_f32(vget_high_f32(x.v[count - 1]), vdup_n_f32(0.0F));
      return y;
    }
    static F without_spare(F x) {
      x.v[count - 1] = vcombine_f32(vget_low_f32(x.v[count - 1]), vdup_n_f32(0.0F));
      return x;
    }
    static F with_spare(F x, const F& spares) {
      x.v[count - 1] = vcombine_f32(vget_low_f32(x.v[count - 1]), vget_low_f32(spares.v[0]));
      return x;
    }
    static F all(float value) {
      return make_floats([&](int) { return vdupq_n_f32(value); });
    }
    static F add(const F& a, const F& b) {
      return make_floats([&](int j) { return vaddq_f32(a.v[j], b.v[j]); });
    }
    static F sub(const F& a, const F& b) {
      return make_floats([&](int j) { return vsubq_f32(a.v[j], b.v[j]); });
    }
    static F mul(const F& a, const F& b) {
      return make_floats([&](int j) { return vmulq_f32(a.v[j], b.v[j]); });
    }
    static F div(const F& a, const F& b) {
      return make_floats([&](int j) { return vdivq_f32(a.v[j], b.v[j]); });
    }
    // Of a number and a NaN the number, as `a < b ? a : b` is where a is the NaN.
    static F min(const F& a, const F& b) {
      return make_floats([&](int j) { return vminnmq_f32(a.v[j], b.v[j]); });
    }
    static F max(const F& a, const F& b) {
      return make_floats([&](int j) { return vmaxnmq_f32(a.v[j], b.v[j]); });
    }
    static bool any_at_least_one(const F& a) {
      uint32x4_t any = vcgeq_f32(a.v[0], vdupq_n_f32(1.0F));
      for (int j = 1; j < count; ++j) any = vorrq_u32(any, vcgeq_f32(a.v[j], vdupq_n_f32(1.0F)));
      return vmaxvq_u32(any) != 0;
    }
    // Lane j with lane j + half, until four lanes are left.
    static float32x4_t four(const F& a) {
      if constexpr (lanes == 16) {
        return vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
      } else {
        return vaddq_f32(a.v[0], a.v[1]);
      }
    }
    static float sum(const F& a) {
      const float32x4_t rest = four(a);
      return vpadds_f32(vadd_f32(vget_low_f32(rest), vget_high_f32(rest)));
    }
    // Two vectors, of four lanes each.
    struct Halves {
      float32x4_t first, second;
    };
    static Halves halve(const F& a, const F& b) { return {four(a), four(b)}; }
    // The sums of the two vectors, each as two lanes that are left to add.
    static float32x4_t quarter(const Halves& a) {
      const float64x2_t first = vreinterpretq_f64_f32(a.first);
      const float64x2_t second = vreinterpretq_f64_f32(a.second);
      return vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(first, second)),
                       vreinterpretq_f32_f64(vzip2q_f64(first, second)));
    }
    // The sums of sixteen vectors that were halved; no lane idles.
    static void finish_sums(const Halves* a, float* sums) {
      for (int q = 0; q < 4; ++q, a += 2) {
        vst1q_f32(sums + 4 * q, vpaddq_f32(quarter(a[0]), quarter(a[1])));
      }
    }

    static I no_integers() { return bits(0); }
    static I load_integers(const std::int32_t* p) {
      return make_integers([&](int j) { return vld1q_s32(p + 4 * j); });
    }
    static void store_integers(std::int32_t* p, const I& x) {
      for (int j = 0; j < count; ++j) vst1q_s32(p + 4 * j, x.v[j]);
    }
    static I plus(const I& a, const I& b) {
      return make_integers([&](int j) { return vaddq_s32(a.v[j], b.v[j]); });
    }
    static I minus(const I& a, const I& b) {
      return make_integers([&](int j) { return vsubq_s32(a.v[j], b.v[j]); });
    }
    static I times(const I& a, std::int32_t copies) {
      return make_integers([&](int j) { return vmulq_n_s32(a.v[j], copies); });
    }
    static I to_integers(const F& a) {
      return make_integers([&](int j) { return vcvtnq_s32_f32(a.v[j]); });
    }
    static F to_floats(const I& a) {
      return make_floats([&](int j) { return vcvtq_f32_s32(a.v[j]); });
    }
    static I bits_of(const F& a) {
      return make_integers([&](int j) { return vreinterpretq_s32_f32(a.v[j]); });
    }
    static F from_bits(const I& a) {
      return make_floats([&](int j) { return vreinterpretq_f32_s32(a.v[j]); });
    }
    static I bits(std::int32_t value) {
      return make_integers([&](int) { return vdupq_n_s32(value); });
    }
    template <int n>
    static I shift_left(const I& a) {
      return make_integers([&](int j) { return vshlq_n_s32(a.v[j], n); });
    }
    template <int n>
    static I shift_right(const I& a) {
      return make_integers([&](int j) { return vshrq_n_s32(a.v[j], n); });
    }
    // Where an integer is 0, `a`, else `b`.
    static F where_zero(const I& n, const F& a, const F& b) {
      return make_floats([&](int j) { return vbslq_f32(vceqzq_s32(n.v[j]), a.v[j], b.v[j]); });
    }
    static F class_floats(const I& a) {
      return without_spare(to_floats(a));
    }
  };
};

}  // namespace

extern const TreeKernels kNeonTreeKernels;
const TreeKernels kNeonTreeKernels = TreeKernelsOf<Neon>::table();

}  // namespace marginboost
#endif
