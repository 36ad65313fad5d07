// Whether an ensemble's flat arrays hang together.
#pragma once

#include <cstdint>
#include <string>

#include "marginboost/predict/ensemble_view.hpp"

namespace marginboost {

/// Throws std::invalid_argument with a sentence: what must hold, and what was got.
[[noreturn]] void fail(const std::string& must, std::int64_t got);

}  // namespace marginboost
