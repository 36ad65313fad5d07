#if defined(__aarch64__)
#include "stumps/kernels_impl.hpp"

#include <arm_neon.h>

namespace marginboost {
namespace {

template <int lanes>
struct NeonLanes {  // 4, 8 or 16 lanes: one, two or four vectors
  static constexpr int count = lanes / 4;
  int32x4_t v[count];

  static NeonLanes load(const std::int32_t* p) {
    NeonLanes x;
    for (int j = 0; j < count; ++j) x.v[j] = vld1q_s32(p + 4 * j);
    return x;
  }
  static void store(std::int32_t* p, const NeonLanes& x) {
    for (int j = 0; j < count; ++j) vst1q_s32(p + 4 * j, x.v[j]);
  }
  static NeonLanes zero() {
    NeonLanes x;
    for (auto& v : x.v) v = vdupq_n_s32(0);
    return x;
  }
  static NeonLanes add(NeonLanes a, const NeonLanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = vaddq_s32(a.v[j], b.v[j]);
    return a;
  }
  static NeonLanes sub(NeonLanes a, const NeonLanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = vsubq_s32(a.v[j], b.v[j]);
    return a;
  }
  static NeonLanes abs(NeonLanes a) {
    for (auto& v : a.v) v = vabsq_s32(v);
    return a;
  }
  static NeonLanes max(NeonLanes a, const NeonLanes& b) {
    for (int j = 0; j < count; ++j) a.v[j] = vmaxq_s32(a.v[j], b.v[j]);
    return a;
  }
  static std::int64_t largest(const NeonLanes& a) {
    int32x4_t best = a.v[0];
    for (int j = 1; j < count; ++j) best = vmaxq_s32(best, a.v[j]);
    return vmaxvq_s32(best);
  }
  static bool any_equal(const NeonLanes& a, std::int32_t value) {
    uint32x4_t any = vceqq_s32(a.v[0], vdupq_n_s32(value));
    for (int j = 1; j < count; ++j) any = vorrq_u32(any, vceqq_s32(a.v[j], vdupq_n_s32(value)));
    return vmaxvq_u32(any) != 0;
  }
};

struct Neon {
  static constexpr int width = 4;  // two vectors of two doubles: one vector of as many int32
  struct D {
    float64x2_t low, high;
  };
  template <int lanes>
  using I = NeonLanes<lanes>;

  // The first n of a vector's lanes.
  struct Part {
    int n;
  };
  static Part part(int n) { return {n}; }
  static D all(double value) { return {vdupq_n_f64(value), vdupq_n_f64(value)}; }
  static D load(const double* p) { return {vld1q_f64(p), vld1q_f64(p + 2)}; }
  // To the byte: what lies behind may not be ours.
  static D load(const double* p, Part part) {
    D x = all(0.0);
    if (part.n & 2) {
      x.low = vld1q_f64(p);
      if (part.n & 1) x.high = vld1q_lane_f64(p + 2, x.high, 0);
    } else if (part.n & 1) {
      x.low = vld1q_lane_f64(p, x.low, 0);
    }
    return x;
  }
  static void store(double* p, const D& x) {
    vst1q_f64(p, x.low);
    vst1q_f64(p + 2, x.high);
  }
  static void store(double* p, Part part, const D& x) {
    float64x2_t two = x.low;
    if (part.n & 2) {
      vst1q_f64(p, two);
      two = x.high;
      p += 2;
    }
    if (part.n & 1) vst1q_lane_f64(p, two, 0);
  }
  static D add(const D& a, const D& b) {
    return {vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)};
  }
  static D sub(const D& a, const D& b) {
    return {vsubq_f64(a.low, b.low), vsubq_f64(a.high, b.high)};
  }
  static D mul(const D& a, const D& b) {
    return {vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)};
  }
  static D div(const D& a, const D& b) {
    return {vdivq_f64(a.low, b.low), vdivq_f64(a.high, b.high)};
  }
  // Of a number and a NaN the number, as `a > b ? a : b` is where b is one.
  static D larger(const D& a, const D& b) {
    return {vmaxnmq_f64(a.low, b.low), vmaxnmq_f64(a.high, b.high)};
  }
  static D clamp(const D& e) {
    const D least = larger(e, all(kSmallestExponential));
    const float64x2_t most = vdupq_n_f64(kLargestExponential);
    return {vminnmq_f64(least.low, most), vminnmq_f64(least.high, most)};
  }
  static D round(const D& a) { return {vrndnq_f64(a.low), vrndnq_f64(a.high)}; }
  static D first(const D& a, int n) {
    const float64x2_t none = vdupq_n_f64(0.0);
    const float64x2_t low = n >= 2 ? a.low : n == 1 ? vzip1q_f64(a.low, none) : none;
    const float64x2_t high = n >= 4 ? a.high : n == 3 ? vzip1q_f64(a.high, none) : none;
    return {low, high};
  }
  // Of eight partial sums, two vectors of four.
  static double sum_eight(const D* a) {
    const D four = add(a[0], a[1]);
    return vaddvq_f64(vaddq_f64(four.low, four.high));
  }
  static std::uint8_t any_at_least_one(const D& a) {
    const float64x2_t one = vdupq_n_f64(1.0);
    const uint64x2_t any = vorrq_u64(vcgeq_f64(a.low, one), vcgeq_f64(a.high, one));
    return vmaxvq_u32(vreinterpretq_u32_u64(any)) != 0 ? 1 : 0;
  }

  using Q = int32x4_t;
  static Q no_integers() { return vdupq_n_s32(0); }
  // The lower halves of the 64-bit integers.
  static Q to_integers(const D& a) {
    return vuzp1q_s32(vreinterpretq_s32_s64(vcvtnq_s64_f64(a.low)),
                      vreinterpretq_s32_s64(vcvtnq_s64_f64(a.high)));
  }
  static Q plus(Q a, Q b) { return vaddq_s32(a, b); }
  static Q all_integers(std::int32_t value) { return vdupq_n_s32(value); }
  static Q times(Q a, Q b) { return vmulq_s32(a, b); }
  // The sum of each of four vectors.
  static void sum_four(const Q* a, std::int32_t* sums) {
    vst1q_s32(sums, vpaddq_s32(vpaddq_s32(a[0], a[1]), vpaddq_s32(a[2], a[3])));
  }
  // Every tile is a whole number of these vectors.
  static Q load_integers(const std::int32_t* p, int) { return vld1q_s32(p); }
  static void store_integers(std::int32_t* p, int, Q a) { vst1q_s32(p, a); }

  struct W {
    int64x2_t low, high;
  };
  using Side = int64x2_t;
  static Side side(std::uint8_t one) { return vdupq_n_s64(-std::int64_t{one}); }
  static W no_words() { return {vdupq_n_s64(0), vdupq_n_s64(0)}; }
  static W to_words(const D& a) { return {vcvtnq_s64_f64(a.low), vcvtnq_s64_f64(a.high)}; }
  static D from_words(const W& a) { return {vcvtq_f64_s64(a.low), vcvtq_f64_s64(a.high)}; }
  static W plus_words(const W& a, const W& b) {
    return {vaddq_s64(a.low, b.low), vaddq_s64(a.high, b.high)};
  }
  static W plus_words_if(Side side, const W& a, const W& b) {
    return {vaddq_s64(a.low, vandq_s64(b.low, side)), vaddq_s64(a.high, vandq_s64(b.high, side))};
  }
};

}  // namespace

extern const Kernels kNeonKernels;
const Kernels kNeonKernels = KernelsOf<Neon>::table("neon");

}  // namespace marginboost
#endif
