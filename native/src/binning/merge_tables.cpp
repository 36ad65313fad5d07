// The tables of two parts of the rows become one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "binning/coarse_values.hpp"
#include "binning/column_tables.hpp"
#include "binning/sort_keys.hpp"
#include "marginboost/binning/value_tables.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

/// Fewer values than this are not worth waking a second thread for.
constexpr std::int64_t kValuesWorthThreads = 1 << 15;

/// A column's keys, without the bits that they have lost, and how often each occurs.
struct KeyCounts {
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> counts;

  void add(std::uint64_t key, std::int64_t count) {
    if (!keys.empty() && keys.back() == key) {
      counts.back() += count;
      return;
    }
    keys.push_back(key);
    counts.push_back(count);
  }
};

KeyCounts merge_column(const ValueTablesView& ours, const ValueTablesView& theirs, std::size_t c,
                       int shift) {
  const auto key_at = [shift](const ValueTablesView& of, std::size_t v) {
    return key_of<double>(of.values[v]) >> shift;
  };
  auto a = static_cast<std::size_t>(ours.offsets[c]);
  auto b = static_cast<std::size_t>(theirs.offsets[c]);
  const auto a_end = static_cast<std::size_t>(ours.offsets[c + 1]);
  const auto b_end = static_cast<std::size_t>(theirs.offsets[c + 1]);
  KeyCounts merged;
  merged.keys.reserve(a_end - a + b_end - b);
  merged.counts.reserve(a_end - a + b_end - b);
  while (a < a_end || b < b_end) {
    const bool first = b == b_end || (a < a_end && key_at(ours, a) <= key_at(theirs, b));
    const ValueTablesView& of = first ? ours : theirs;
    const std::size_t v = first ? a++ : b++;
    merged.add(key_at(of, v), of.counts[v]);
  }
  return merged;
}

/// Lets keys lose more bits until few enough are left; returns how many bits.
int coarsen(KeyCounts& table, std::int64_t most_values) {
  if (table.keys.size() <= static_cast<std::size_t>(most_values)) return 0;
  const int more = coarse_key_shift(
      table.keys.size(), [&](std::size_t v) { return table.keys[v]; }, most_values);
  KeyCounts joined;
  joined.keys.reserve(static_cast<std::size_t>(most_values));
  joined.counts.reserve(static_cast<std::size_t>(most_values));
  for (std::size_t v = 0; v < table.keys.size(); ++v)
    joined.add(table.keys[v] >> more, table.counts[v]);
  table = std::move(joined);
  return more;
}

}  // namespace

ValueTables merge_tables(const ValueTablesView& ours, const ValueTablesView& theirs, int n_threads,
                         std::int64_t most_values) {
  const auto n_columns = static_cast<std::int64_t>(ours.shifts.size());
  ColumnTables tables(n_columns, most_values);
  const auto n_values = static_cast<std::int64_t>(ours.values.size() + theirs.values.size());
  parallel_for(n_columns, n_values < kValuesWorthThreads ? 1 : n_threads,
               [&](std::int64_t column, int) {
                 const auto c = static_cast<std::size_t>(column);
                 const int shift = std::max(ours.shifts[c], theirs.shifts[c]);
                 KeyCounts merged = merge_column(ours, theirs, c, shift);
                 ColumnTable table;
                 table.shift = shift + coarsen(merged, most_values);
                 table.values.reserve(merged.keys.size());
                 for (const std::uint64_t key : merged.keys)
                   table.values.push_back(coarse_value_of_key(key << table.shift));
                 table.counts = std::move(merged.counts);
                 table.below = ours.infinite[2 * c] + theirs.infinite[2 * c];
                 table.above = ours.infinite[2 * c + 1] + theirs.infinite[2 * c + 1];
                 tables.set(column, std::move(table));
               });
  return tables.take();
}

}  // namespace marginboost
