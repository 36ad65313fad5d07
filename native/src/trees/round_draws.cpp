#include "marginboost/trees/round_draws.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace marginboost {
namespace {

// Of more features than this, and of a share that is not small, NumPy shuffles the tail of a list.
constexpr std::int64_t kManyFeatures = 10000, kSmallShare = 20;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

RoundDraws::RoundDraws(const DrawRules& rules) : rules_(rules) {
  taken_.assign(at(rules.n_features), 0);
}

void RoundDraws::feed(std::span<const std::uint64_t> words) {
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(place_.next));
  place_.next = 0;
  words_.insert(words_.end(), words.begin(), words.end());
}

bool RoundDraws::draw(std::uint64_t& seed, std::int32_t* features, float* signs) {
  const Place before = place_;
  const bool is_whole =
      (!rules_.seeds || word(seed)) && choose(features) && add_signs(signs);
  if (!is_whole) place_ = before;
  return is_whole;
}

bool RoundDraws::draw_signs(float* signs) {
  const Place before = place_;
  const bool is_whole = add_signs(signs);
  if (!is_whole) place_ = before;
  return is_whole;
}

bool RoundDraws::word(std::uint64_t& out) {
  if (place_.next == words_.size()) return false;
  out = words_[place_.next++];
  return true;
}

// The lower half of a word, then its upper half.
bool RoundDraws::half_word(std::uint32_t& out) {
  if (std::exchange(place_.has_half, false)) {
    out = place_.half;
    return true;
  }
  std::uint64_t whole;
  if (!word(whole)) return false;
  out = static_cast<std::uint32_t>(whole);
  place_.half = static_cast<std::uint32_t>(whole >> 32);
  place_.has_half = true;
  return true;
}

// Lemire's method: the upper half of a product, and again where the lower half is one of the few that would
// make some numbers likelier.
bool RoundDraws::number(std::uint32_t most, std::uint32_t& out) {
  if (most == 0) {
    out = 0;
    return true;
  }
  const std::uint32_t count = most + 1;
  std::uint32_t bits;
  if (!half_word(bits)) return false;
  std::uint64_t product = std::uint64_t{bits} * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t least = (std::numeric_limits<std::uint32_t>::max() - most) % count;
    while (static_cast<std::uint32_t>(product) < least) {
      if (!half_word(bits)) return false;
      product = std::uint64_t{bits} * count;
    }
  }
  out = static_cast<std::uint32_t>(product >> 32);
  return true;
}

// Floyd's algorithm: the j-th number is drawn from the first j, or is the j-th where that was drawn before.
bool RoundDraws::choose(std::int32_t* features) {
  const std::int64_t n = rules_.n_features, n_drawn = rules_.n_drawn;
  if (n_drawn == n) {
    std::iota(features, features + n, 0);
    return true;
  }
  if (n > kManyFeatures && n_drawn > n / kSmallShare) return shuffle_tail(features);
  std::int64_t n_found = 0;
  bool is_whole = true;
  for (std::int64_t j = n - n_drawn; j < n && is_whole; ++j) {
    std::uint32_t found;
    is_whole = number(static_cast<std::uint32_t>(j), found);
    if (!is_whole) break;
    const auto one = static_cast<std::int32_t>(taken_[found] == 0 ? std::int64_t{found} : j);
    taken_[at(one)] = 1;
    features[n_found++] = one;
  }
  for (std::int64_t j = 0; j < n_found; ++j) taken_[at(features[j])] = 0;
  std::sort(features, features + n_found);
  return is_whole;
}

bool RoundDraws::shuffle_tail(std::int32_t* features) {
  const std::int64_t n = rules_.n_features, first = n - rules_.n_drawn;
  shuffled_.resize(at(n));
  std::iota(shuffled_.begin(), shuffled_.end(), 0);
  for (std::int64_t i = n - 1; i >= std::max<std::int64_t>(first, 1); --i) {
    std::uint32_t found;
    if (!number(static_cast<std::uint32_t>(i), found)) return false;
    std::swap(shuffled_[found], shuffled_[at(i)]);
  }
  std::copy(shuffled_.begin() + first, shuffled_.end(), features);
  std::sort(features, features + rules_.n_drawn);
  return true;
}

bool RoundDraws::add_signs(float* signs) {
  for (std::int64_t c = 0; c < rules_.n_signs; ++c) {
    std::uint32_t bit;
    if (!number(1, bit)) return false;
    signs[c] = bit == 0 ? -1.0F : 1.0F;
  }
  return true;
}

}  // namespace marginboost
