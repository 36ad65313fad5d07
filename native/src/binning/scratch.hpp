// Scratch memory of the threads that look for thresholds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace marginboost {

/// Less memory than this is not worth saving.
inline constexpr std::int64_t kSmallScratch = 2 << 20;

/// Beside its bins, what a fit takes for a row later on and not yet: weights of two classes.
inline constexpr std::int64_t kLaterBytes = 24;

/// The arrays that the threads work in. They are taken by the calling thread, all at once: what a
/// worker takes comes from a heap of its own, which does not give it back.
template <class Cell>
class Scratch {
 public:
  Scratch(int n_threads, std::int64_t n_arrays, std::size_t size)
      : n_arrays_(static_cast<std::size_t>(n_arrays)), size_(size),
        cells_(std::make_unique_for_overwrite<Cell[]>(static_cast<std::size_t>(n_threads) *
                                                      n_arrays_ * size_)) {}
  std::span<Cell> array(int slot, std::int64_t number) const {
    const auto mine = static_cast<std::size_t>(slot) * n_arrays_;
    return {cells_.get() + (mine + static_cast<std::size_t>(number)) * size_, size_};
  }

 private:
  std::size_t n_arrays_, size_;
  std::unique_ptr<Cell[]> cells_;
};

}  // namespace marginboost
