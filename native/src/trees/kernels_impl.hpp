// The kernels of vector-leaf trees, written once over the vectors of `Isa`. Included by one file an
// instruction set. Isa::Vec<lanes> gives vectors of floats (F) and of int32 (I).
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "marginboost/trees/kernels.hpp"
#include "trees/split_scan_impl.hpp"

namespace marginboost {

template <class Isa>
struct TreeKernelsOf {
  // ---- rows ------------------------------------------------------------------------------------

  static std::int32_t rounded(float value) { return static_cast<std::int32_t>(std::lrintf(value)); }

  // A row's tiles: where they are kept, or in the room, where they are kept in fewer floats.
  template <class V, int lanes>
  static float* unpack(const TreeRows& rows, std::int64_t i, float* room) {
    const int stored = rows.slots.stored;
    float* e = rows.exponentials + i * stored;
    if (!rows.slots.packed()) return e;
    if (rows.slots.tiles == 1) {
      V::store(room, V::load_first(e, stored));
      return room;
    }
    const auto both = V::load(e);
    V::store(room, V::without_spare(both));
    V::store(room + lanes, V::spare(both));
    return room;
  }

  template <class V, int lanes>
  static void pack(const TreeRows& rows, std::int64_t i, const float* room) {
    const int stored = rows.slots.stored;
    float* e = rows.exponentials + i * stored;
    if (!rows.slots.packed()) return;
    if (rows.slots.tiles == 1) {
      V::store_first(e, stored, V::load(room));
    } else {
      V::store(e, V::with_spare(V::load(room), V::load(room + lanes)));
    }
  }

  template <class V, Loss loss>
  static typename V::F weight_of(typename V::F e) {
    if constexpr (loss == Loss::exponential) {
      return e;
    } else {
      return V::div(e, V::add(V::all(1.0F), e));
    }
  }

  // The weights of a tile of a row's pairs, `at` its first slot.
  template <class V, Loss loss, bool paired>
  static typename V::F weight_of(const TreeRows& rows, const float* e, int at) {
    const auto u = weight_of<V, loss>(V::load(e + at));
    if constexpr (paired) {
      return V::mul(u, V::load(rows.pair_weights + at));
    } else {
      return u;
    }
  }

  // log(1 + e), e >= 0, by operations that every engine has: relative error below 1e-6.
  template <class V>
  static typename V::F log_one_plus(typename V::F e) {
    // 1 + e = 2^n m, m from 3/4 to 3/2, and log(m) = 2 atanh(s), s = (m - 1) / (m + 1), by its series.
    const auto bits = V::bits_of(V::add(V::all(1.0F), e));
    const auto n = V::template shift_right<23>(V::minus(bits, V::bits(0x3F400000)));
    const auto m = V::from_bits(V::minus(bits, V::template shift_left<23>(n)));
    // Where n is 0, m - 1 is e, which may be too small for 1 + e to hold all of it.
    const auto f = V::where_zero(n, e, V::sub(m, V::all(1.0F)));
    const auto s = V::div(f, V::add(V::all(2.0F), f));
    const auto z = V::mul(s, s);
    auto series = V::all(2.0F / 7.0F);
    for (const float term : {2.0F / 5.0F, 2.0F / 3.0F, 2.0F})
      series = V::add(V::mul(series, z), V::all(term));
    return V::add(V::mul(V::to_floats(n), V::all(kLogTwo)), V::mul(s, series));
  }

  // The sum of a row's log(1 + e), two tiles to a logarithm: (1 + a)(1 + b) = 1 + (a + b + ab).
  template <class V>
  static float log_loss_of_row(const float* e, int tiles, int lanes) {
    typename V::F sum = V::all(0.0F);
    for (int t = 0; t < tiles; t += 2) {
      auto both = V::load(e + t * lanes);
      if (t + 1 < tiles) {
        const auto other = V::load(e + (t + 1) * lanes);
        both = V::add(V::add(both, other), V::mul(both, other));
      }
      sum = V::add(sum, log_one_plus<V>(both));
    }
    return V::sum(sum);
  }

  // The same, of pairs that count more or less.
  template <class V>
  static float paired_log_loss_of_row(const float* e, const float* pairs, int tiles, int lanes) {
    typename V::F sum = V::all(0.0F);
    for (int t = 0; t < tiles; ++t) {
      const auto losses = log_one_plus<V>(V::load(e + t * lanes));
      sum = V::add(sum, V::mul(losses, V::load(pairs + t * lanes)));
    }
    return V::sum(sum);
  }

  template <int lanes, Loss loss, bool paired>
  static TreeAdvance advance_loss(const TreeRows& rows, std::int64_t begin, std::int64_t end,
                                    int label, const TreeStep& step) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    const int tiles = rows.slots.tiles, padded = rows.slots.padded();
    const int own = rows.slots.lane_of_class(label);
    const float own_sign = step.signs[rows.slots.of_class(label)];
    const bool weighted = rows.weight || rows.multiplicity;
    TreeAdvance found;
    alignas(64) float room[2 * lanes];
    for (std::int64_t i = begin; i < end; ++i) {
      float* e_row = unpack<V, lanes>(rows, i, room);
      const float* up = step.up + std::int64_t{rows.leaf[i]} * padded;
      const F down = V::all(step.down[rows.leaf[i] * step.down_stride]);
      F most = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F factor = V::mul(V::load(up + t * lanes), down);
        const F e = V::min(V::max(V::mul(V::load(e_row + t * lanes), factor),
                                  V::load(step.floors + t * lanes)),
                           V::all(kLargestRatio));
        V::store(e_row + t * lanes, e);
        most = V::max(most, e);
      }
      pack<V, lanes>(rows, i, e_row);
      F sum = V::all(0.0F), signed_sum = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F u = weight_of<V, loss, paired>(rows, e_row, t * lanes);
        sum = V::add(sum, u);
        signed_sum = V::add(signed_sum, V::mul(u, V::load(step.signs + t * lanes)));
      }
      const float mass = V::sum(sum);
      const float weight = rows.weight ? rows.weight[i] : 1.0F;
      const std::int32_t copies = rows.multiplicity ? rows.multiplicity[i] : 1;
      const F unit = V::all(-step.scale * weight);
      std::int32_t* g = rows.direction + i * lanes;
      auto q = V::to_integers(V::mul(signed_sum, unit));
      if (weighted) q = V::times(q, copies);
      V::store_integers(g, q);
      g[own] += rounded(own_sign * mass * (step.scale * weight)) * copies;
      g[lanes - 2] = rounded(mass * (step.mass_scale * weight)) * copies;
      g[lanes - 1] = copies;
      found.wrong += V::any_at_least_one(most) ? copies : 0;
      float row_loss = mass;
      if constexpr (loss == Loss::logistic) {
        row_loss = paired ? paired_log_loss_of_row<V>(e_row, rows.pair_weights, tiles, lanes)
                          : log_loss_of_row<V>(e_row, tiles, lanes);
      }
      const double units = step.loss_scale * static_cast<double>(weight);
      found.loss += std::llrint(static_cast<double>(row_loss) * units) * copies;
    }
    return found;
  }

  template <int lanes, bool paired>
  static TreeAdvance advance_lanes(const TreeRows& rows, std::int64_t begin, std::int64_t end,
                                    int label, const TreeStep& step) {
    return rows.loss == Loss::exponential
               ? advance_loss<lanes, Loss::exponential, paired>(rows, begin, end, label, step)
               : advance_loss<lanes, Loss::logistic, paired>(rows, begin, end, label, step);
  }

  static TreeAdvance advance(const TreeRows& rows, std::int64_t begin, std::int64_t end,
                              int label, const TreeStep& step) {
    if (rows.pair_weights) {
      return rows.slots.lanes == 8 ? advance_lanes<8, true>(rows, begin, end, label, step)
                                   : advance_lanes<16, true>(rows, begin, end, label, step);
    }
    return rows.slots.lanes == 8 ? advance_lanes<8, false>(rows, begin, end, label, step)
                                 : advance_lanes<16, false>(rows, begin, end, label, step);
  }

  template <int lanes, Loss loss, bool paired>
  static void leaf_sums_loss(const TreeRows& rows, std::int64_t begin, std::int64_t end,
                             double scale, std::int32_t* against, double* own) {
    using V = typename Isa::template Vec<lanes>;
    using F = typename V::F;
    const int tiles = rows.slots.tiles, padded = rows.slots.padded();
    const auto narrow = static_cast<float>(scale);
    alignas(64) float room[2 * lanes];
    for (std::int64_t i = begin; i < end; ++i) {
      const float* e_row = unpack<V, lanes>(rows, i, room);
      std::int32_t* sums = against + std::int64_t{rows.leaf[i]} * padded;
      const float weight = rows.weight ? rows.weight[i] : 1.0F;
      const std::int32_t copies = rows.multiplicity ? rows.multiplicity[i] : 1;
      const F unit = V::all(narrow * weight);
      F sum = V::all(0.0F);
      for (int t = 0; t < tiles; ++t) {
        const F u = weight_of<V, loss, paired>(rows, e_row, t * lanes);
        sum = V::add(sum, u);
        auto q = V::to_integers(V::mul(u, unit));
        if (copies != 1) q = V::times(q, copies);
        std::int32_t* to = sums + t * lanes;
        V::store_integers(to, V::plus(V::load_integers(to), q));
      }
      const double mass = static_cast<double>(V::sum(sum)) * (scale * static_cast<double>(weight));
      own[rows.leaf[i]] += std::nearbyint(mass) * static_cast<double>(copies);
    }
  }

  template <int lanes, bool paired>
  static void leaf_sums_lanes(const TreeRows& rows, std::int64_t begin, std::int64_t end,
                              double scale, std::int32_t* against, double* own) {
    if (rows.loss == Loss::exponential) {
      leaf_sums_loss<lanes, Loss::exponential, paired>(rows, begin, end, scale, against, own);
    } else {
      leaf_sums_loss<lanes, Loss::logistic, paired>(rows, begin, end, scale, against, own);
    }
  }

  static void leaf_sums(const TreeRows& rows, std::int64_t begin, std::int64_t end, double scale,
                        std::int32_t* against, double* own) {
    const bool narrow = rows.slots.lanes == 8;
    const auto sums = rows.pair_weights
                          ? (narrow ? &leaf_sums_lanes<8, true> : &leaf_sums_lanes<16, true>)
                          : (narrow ? &leaf_sums_lanes<8, false> : &leaf_sums_lanes<16, false>);
    sums(rows, begin, end, scale, against, own);
  }

  // ---- histograms ------------------------------------------------------------------------------

  // Some features' histograms, and the rows that are added to them.
  template <class Bin>
  struct Adding {
    const std::int32_t* direction;
    const std::uint32_t* order;  // null: the rows from begin on
    std::int64_t begin, n;
    const Bin* const* bins;
    std::int32_t* const* hist;
    std::uint64_t* const* marks;  // null: not wanted
  };

  template <int lanes, int features, bool marking, class Bin>
  static void add_rows_fixed(const Adding<Bin>& adding, int first) {
    using V = typename Isa::template Vec<lanes>;
    constexpr std::int64_t ahead = 12;
    const std::int32_t* const direction = adding.direction;
    const std::uint32_t* const order = adding.order;
    const std::int64_t n = adding.n;
    const Bin* b[features];
    std::int32_t* h[features];
    std::uint64_t* marks[features];
    for (int f = 0; f < features; ++f) {
      b[f] = adding.bins[first + f];
      h[f] = adding.hist[first + f];
      marks[f] = marking ? adding.marks[first + f] : nullptr;
    }
    const auto add_row = [&](std::int64_t row) {
      const auto g = V::load_integers(direction + row * lanes);
      for (int f = 0; f < features; ++f) {
        const std::int64_t bin = b[f][row];
        if constexpr (marking) marks[f][bin >> 6] |= std::uint64_t{1} << (bin & 63);
        std::int32_t* to = h[f] + bin * lanes;
        V::store_integers(to, V::plus(V::load_integers(to), g));
      }
    };
    if (order == nullptr) {
      for (std::int64_t i = adding.begin; i < adding.begin + n; ++i) add_row(i);
      return;
    }
    // A row's direction may be far away; by the time that it is needed it has come.
    std::int64_t i = 0;
    for (; i + ahead < n; ++i) {
      Isa::prefetch(direction + std::int64_t{order[i + ahead]} * lanes);
      add_row(order[i]);
    }
    for (; i < n; ++i) add_row(order[i]);
  }

  template <int lanes, bool marking, class Bin>
  static void add_rows_lanes(const Adding<Bin>& adding, int n_features) {
    int f = 0;
    for (; f + 4 <= n_features; f += 4) add_rows_fixed<lanes, 4, marking>(adding, f);
    for (; f + 2 <= n_features; f += 2) add_rows_fixed<lanes, 2, marking>(adding, f);
    if (f < n_features) add_rows_fixed<lanes, 1, marking>(adding, f);
  }

  template <class Bin>
  static void add_rows(const std::int32_t* direction, const Slots& slots,
                       const std::uint32_t* order, std::int64_t begin, std::int64_t n,
                       const Bin* const* bins, int n_features, std::int32_t* const* hist) {
    const Adding<Bin> adding{direction, order, begin, n, bins, hist, nullptr};
    if (slots.lanes == 8) {
      add_rows_lanes<8, false>(adding, n_features);
    } else {
      add_rows_lanes<16, false>(adding, n_features);
    }
  }

  template <class Bin>
  static void mark_rows(const std::int32_t* direction, const Slots& slots,
                        const std::uint32_t* order, std::int64_t n, const Bin* const* bins,
                        int n_features, std::int32_t* const* hist, std::uint64_t* const* marks) {
    const Adding<Bin> adding{direction, order, 0, n, bins, hist, marks};
    if (slots.lanes == 8) {
      add_rows_lanes<8, true>(adding, n_features);
    } else {
      add_rows_lanes<16, true>(adding, n_features);
    }
  }

  template <int lanes>
  static void add_entries_lanes(const std::int32_t* direction, const std::uint32_t* order,
                                std::int64_t begin, std::int64_t n, const std::uint32_t* offsets,
                                const std::uint16_t* cells, std::int32_t* hist,
                                std::int32_t* total) {
    using V = typename Isa::template Vec<lanes>;
    constexpr std::int64_t ahead = 12;
    auto sum = V::load_integers(total);
    const auto add_row = [&](std::int64_t row) {
      const auto g = V::load_integers(direction + row * lanes);
      sum = V::plus(sum, g);
      for (std::uint32_t j = offsets[row]; j < offsets[row + 1]; ++j) {
        std::int32_t* to = hist + std::int64_t{cells[j]} * lanes;
        V::store_integers(to, V::plus(V::load_integers(to), g));
      }
    };
    if (order == nullptr) {
      for (std::int64_t i = begin; i < begin + n; ++i) add_row(i);
    } else {
      std::int64_t i = 0;
      for (; i + ahead < n; ++i) {
        Isa::prefetch(direction + std::int64_t{order[i + ahead]} * lanes);
        add_row(order[i]);
      }
      for (; i < n; ++i) add_row(order[i]);
    }
    V::store_integers(total, sum);
  }

  static void add_entries(const std::int32_t* direction, const Slots& slots,
                          const std::uint32_t* order, std::int64_t begin, std::int64_t n,
                          const std::uint32_t* offsets, const std::uint16_t* cells,
                          std::int32_t* hist, std::int32_t* total) {
    const auto add = slots.lanes == 8 ? &add_entries_lanes<8> : &add_entries_lanes<16>;
    add(direction, order, begin, n, offsets, cells, hist, total);
  }

  template <int lanes, bool marking, class Bin>
  static std::size_t add_list_lanes(const std::int32_t* direction, const ListEntries& list,
                                    const Bin* bins, std::int32_t* hist, std::uint64_t* marks,
                                    std::int32_t* places) {
    using V = typename Isa::template Vec<lanes>;
    std::size_t n_places = 0;
    for (std::int64_t e = 0; e < list.n; ++e) {
      const std::int64_t j = list.which[e], row = list.rows[j], bin = bins[j];
      const std::int64_t place = list.place_of_row[row];
      std::int32_t* own = hist + place * list.stride;
      std::int32_t& named = own[list.default_bin * lanes];
      places[n_places] = static_cast<std::int32_t>(place);
      n_places += named++ == 0 ? 1 : 0;
      if constexpr (marking) {
        marks[place * list.n_words + (bin >> 6)] |= std::uint64_t{1} << (bin & 63);
      }
      const auto g = V::load_integers(direction + row * lanes);
      V::store_integers(own + bin * lanes, V::plus(V::load_integers(own + bin * lanes), g));
    }
    return n_places;
  }

  template <class Bin>
  static std::size_t add_list(const std::int32_t* direction, const Slots& slots,
                              const ListEntries& list, const Bin* bins, std::int32_t* hist,
                              std::uint64_t* marks, std::int32_t* places) {
    const bool narrow = slots.lanes == 8;
    const auto add =
        marks ? (narrow ? &add_list_lanes<8, true, Bin> : &add_list_lanes<16, true, Bin>)
              : (narrow ? &add_list_lanes<8, false, Bin> : &add_list_lanes<16, false, Bin>);
    return add(direction, list, bins, hist, marks, places);
  }

  static constexpr TreeKernels table() {
    return TreeKernels{&advance,
                         &leaf_sums,
                         &add_rows<std::uint8_t>,
                         &add_rows<std::uint16_t>,
                         &mark_rows<std::uint8_t>,
                         &mark_rows<std::uint16_t>,
                         &add_entries,
                         &add_list<std::uint8_t>,
                         &add_list<std::uint16_t>,
                         &SplitScanOf<Isa>::scan};
  }
};

}  // namespace marginboost
