// Rows in packs: the bins of a few neighbouring rows in one load.

constexpr int ROWS = 8;  // a pack

template <class Bin>
struct SomeBins;
template <>
struct SomeBins<u8> {
  uint2 words;
  __device__ int operator[](int i) const { return ((i < 4 ? words.x : words.y) >> (8 * (i % 4))) & 255; }
};
template <>
struct SomeBins<u16> {
  uint4 words;
  __device__ int operator[](int i) const {
    const u32 pair = i < 2 ? words.x : i < 4 ? words.y : i < 6 ? words.z : words.w;
    return (pair >> (16 * (i % 2))) & 65535;
  }
};

template <class Bin>
__device__ inline SomeBins<Bin> load_bins(const Bin* bins, i64 at) {
  return {__ldg(reinterpret_cast<const decltype(SomeBins<Bin>::words)*>(bins + at))};
}

// The range of packs of ROWS rows that share number `share` of `n_shares` takes.
struct Share {
  i64 begin, end;
  __device__ Share(i64 n_packs, i64 share, i64 n_shares)
      : begin(n_packs * share / n_shares), end(n_packs * (share + 1) / n_shares) {}
};

// specs: of each feature its first bin among all features', and its commonest bin; one more at the end.
__device__ inline int2 spec_of(const i32* specs, int feature) {
  return __ldg(reinterpret_cast<const int2*>(specs) + feature);
}
