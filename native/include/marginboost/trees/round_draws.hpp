// What the rounds of a fit draw: seeds of samples of rows, features, and signs of classes.
//
// Drawn as NumPy's Generator draws from the same bits (integers, and choice without replacement), so that
// a fit may go on with either, but for all rounds of a call at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace marginboost {

/// What a round draws, and of how many.
struct DrawRules {
  bool seeds = false;          ///< whether a seed is drawn
  std::int64_t n_features = 0;
  std::int64_t n_drawn = 0;    ///< features of a tree: all of them, or so many that are drawn
  std::int64_t n_signs = 0;    ///< signs that are drawn; 0: none are
};

class RoundDraws {
 public:
  explicit RoundDraws(const DrawRules& rules);

  const DrawRules& rules() const { return rules_; }
  /// Words of random bits that are left.
  std::size_t n_words() const { return words_.size() - place_.next; }
  /// Adds words of random bits behind those that are left.
  void feed(std::span<const std::uint64_t> words);
  /// Draws a round: n_drawn numbers of features, ascending, and n_signs of -1 or +1. False, with nothing
  /// drawn, where there are too few words.
  bool draw(std::uint64_t& seed, std::int32_t* features, float* signs);
  /// Draws signs alone.
  bool draw_signs(float* signs);

 private:
  struct Place {
    std::size_t next = 0;     ///< word
    bool has_half = false;    ///< whether half of a word is left
    std::uint32_t half = 0;
  };
  bool word(std::uint64_t& out);
  bool half_word(std::uint32_t& out);
  /// A whole number from 0 to `most`.
  bool number(std::uint32_t most, std::uint32_t& out);
  bool choose(std::int32_t* features);
  bool shuffle_tail(std::int32_t* features);
  bool add_signs(float* signs);

  DrawRules rules_;
  std::vector<std::uint64_t> words_;
  Place place_;
  std::vector<std::uint8_t> taken_;     ///< by feature
  std::vector<std::int32_t> shuffled_;  ///< all features, where a tail of them is shuffled
};

}  // namespace marginboost
