// What the files of StumpShard share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "marginboost/stumps/shard.hpp"
#include "marginboost/threads/thread_pool.hpp"
#include "wrapping_add.hpp"

namespace marginboost {

inline constexpr std::size_t kAlignment = 64;
// Below this many vector-sized steps a second thread costs more than it saves.
inline constexpr std::int64_t kSmallWork = 1 << 15;

template <class T>
StumpShard::Buffer<T> StumpShard::allocate(std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T);
  return Buffer<T>(static_cast<T*>(::operator new[](bytes, std::align_val_t{kAlignment})));
}

/// Calls visit(span) for each class that has rows in [begin, end).
template <class Visit>
void StumpShard::for_class_spans(std::int64_t begin, std::int64_t end, Visit visit) const {
  const auto& offsets = data_.class_offsets;
  auto label = static_cast<int>(std::upper_bound(offsets.begin(), offsets.end(), begin) -
                                offsets.begin()) - 1;
  while (begin < end) {
    const std::int64_t stop = std::min(end, offsets[static_cast<std::size_t>(label) + 1]);
    if (stop > begin) visit(RowSpan{begin, stop, label});
    begin = std::max(begin, stop);
    ++label;
  }
}

/// Calls visit with the column's bins as uint8_t* or uint16_t*.
template <class Visit>
void visit_column(const BinView& bins, int feature, Visit visit) {
  if (bins.narrow) {
    visit(bins.narrow + feature * bins.n_rows);
  } else {
    visit(bins.wide + feature * bins.n_rows);
  }
}

}  // namespace marginboost
