// How often each value of a column occurs, where the values are few: no sort, and no copy of the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace marginboost {

/// Counts keys. Open addressing; a slot of count 0 is free. It grows with its keys.
template <class K>
class KeyTable {
 public:
  static constexpr std::size_t kMostKeys = 8192;

  KeyTable() { clear(8); }

  /// Adds to a key's count; returns false, and adds nothing, where the table is full.
  bool add(K key, std::int64_t times) {
    std::size_t slot = find(key);
    if (counts_[slot] == 0) {
      if (n_keys_ == kMostKeys) return false;
      if (2 * n_keys_ >= counts_.size()) {
        grow();
        slot = find(key);
      }
      keys_[slot] = key;
      ++n_keys_;
    }
    counts_[slot] += times;
    return true;
  }

  struct Entry {
    K key;
    std::int64_t count;
  };
  /// What was counted, in no order. The table is empty then.
  std::vector<Entry> take() {
    std::vector<Entry> entries;
    entries.reserve(n_keys_);
    for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
      if (counts_[slot] == 0) continue;
      entries.push_back({keys_[slot], counts_[slot]});
      counts_[slot] = 0;
    }
    n_keys_ = 0;
    return entries;
  }

 private:
  // The highest bits of a product depend on all bits of the key.
  std::size_t find(K key) const {
    auto slot = static_cast<std::size_t>((std::uint64_t{key} * 0x9E3779B97F4A7C15U) >> shift_);
    while (counts_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & (counts_.size() - 1);
    return slot;
  }
  void clear(int bits) {
    shift_ = 64 - bits;
    keys_.resize(std::size_t{1} << bits);
    counts_.assign(std::size_t{1} << bits, 0);
    n_keys_ = 0;
  }
  void grow() {
    const int bits = 64 - shift_ + 2;
    for (const auto& [key, count] : take_all(bits)) {
      const std::size_t slot = find(key);
      keys_[slot] = key;
      counts_[slot] = count;
      ++n_keys_;
    }
  }
  std::vector<Entry> take_all(int bits) {
    std::vector<Entry> entries = take();
    clear(bits);
    return entries;
  }

  std::vector<K> keys_;
  std::vector<std::int64_t> counts_;
  std::size_t n_keys_ = 0;
  int shift_ = 0;
};

}  // namespace marginboost
