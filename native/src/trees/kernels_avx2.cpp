#if defined(MARGINBOOST_X86)
#include "trees/kernels_impl.hpp"

#include <immintrin.h>

#include "trees/eight_lanes.hpp"

namespace marginboost {
namespace {

struct Avx2 {
  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

  template <int lanes>
  struct Vec;
};

template <>
struct Avx2::Vec<8> : EightLanes {};

template <>
struct Avx2::Vec<16> {
  using Half = EightLanes;
  struct F {
    __m256 low, high;
  };
  struct I {
    __m256i low, high;
  };

  static F load(const float* p) { return {Half::load(p), Half::load(p + 8)}; }
  static void store(float* p, const F& x) {
    Half::store(p, x.low);
    Half::store(p + 8, x.high);
  }
  static F load_first(const float* p, int n) {
    if (n <= 8) return {Half::load_first(p, n), Half::all(0.0F)};
    return {Half::load(p), Half::load_first(p + 8, n - 8)};
  }
  static void store_first(float* p, int n, const F& x) {
    Half::store_first(p, n, x.low);
    if (n > 8) Half::store_first(p + 8, n - 8, x.high);
  }
  static F spare(const F& x) { return {Half::spare(x.high), Half::all(0.0F)}; }
  static F without_spare(const F& x) { return {x.low, Half::without_spare(x.high)}; }
  static F with_spare(const F& x, const F& spares) {
    return {x.low, Half::with_spare(x.high, spares.low)};
  }
  static F all(float value) { return {Half::all(value), Half::all(value)}; }
  static F add(const F& a, const F& b) {
    return {Half::add(a.low, b.low), Half::add(a.high, b.high)};
  }
  static F sub(const F& a, const F& b) {
    return {Half::sub(a.low, b.low), Half::sub(a.high, b.high)};
  }
  static F mul(const F& a, const F& b) {
    return {Half::mul(a.low, b.low), Half::mul(a.high, b.high)};
  }
  static F div(const F& a, const F& b) {
    return {Half::div(a.low, b.low), Half::div(a.high, b.high)};
  }
  static F min(const F& a, const F& b) {
    return {Half::min(a.low, b.low), Half::min(a.high, b.high)};
  }
  static F max(const F& a, const F& b) {
    return {Half::max(a.low, b.low), Half::max(a.high, b.high)};
  }
  static bool any_at_least_one(const F& a) {
    return Half::any_at_least_one(Half::max(a.low, a.high));
  }
  static float sum(const F& a) { return Half::sum(Half::add(a.low, a.high)); }
  // Lane j with lane j + 8, and then as vectors of eight.
  using Halves = Half::Halves;
  static Halves halve(const F& a, const F& b) {
    return Half::halve(Half::add(a.low, a.high), Half::add(b.low, b.high));
  }
  static void finish_sums(const Halves* halves, float* sums) { Half::finish_sums(halves, sums); }

  static I no_integers() { return {Half::no_integers(), Half::no_integers()}; }
  static I load_integers(const std::int32_t* p) {
    return {Half::load_integers(p), Half::load_integers(p + 8)};
  }
  static void store_integers(std::int32_t* p, const I& x) {
    Half::store_integers(p, x.low);
    Half::store_integers(p + 8, x.high);
  }
  static I plus(const I& a, const I& b) {
    return {Half::plus(a.low, b.low), Half::plus(a.high, b.high)};
  }
  static I minus(const I& a, const I& b) {
    return {Half::minus(a.low, b.low), Half::minus(a.high, b.high)};
  }
  static I times(const I& a, std::int32_t copies) {
    return {Half::times(a.low, copies), Half::times(a.high, copies)};
  }
  static I to_integers(const F& a) { return {Half::to_integers(a.low), Half::to_integers(a.high)}; }
  static F to_floats(const I& a) { return {Half::to_floats(a.low), Half::to_floats(a.high)}; }
  static I bits_of(const F& a) { return {Half::bits_of(a.low), Half::bits_of(a.high)}; }
  static F from_bits(const I& a) { return {Half::from_bits(a.low), Half::from_bits(a.high)}; }
  static I bits(std::int32_t value) { return {Half::bits(value), Half::bits(value)}; }
  template <int n>
  static I shift_left(const I& a) {
    return {Half::shift_left<n>(a.low), Half::shift_left<n>(a.high)};
  }
  template <int n>
  static I shift_right(const I& a) {
    return {Half::shift_right<n>(a.low), Half::shift_right<n>(a.high)};
  }
  static F where_zero(const I& n, const F& a, const F& b) {
    return {Half::where_zero(n.low, a.low, b.low), Half::where_zero(n.high, a.high, b.high)};
  }
  static F class_floats(const I& a) { return {Half::to_floats(a.low), Half::class_floats(a.high)}; }
};

}  // namespace

extern const TreeKernels kAvx2TreeKernels;
const TreeKernels kAvx2TreeKernels = TreeKernelsOf<Avx2>::table();

}  // namespace marginboost
#endif
