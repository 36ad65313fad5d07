// Missing values: which numbers are none.
#pragma once

#include "marginboost/binning/matrix_view.hpp"

namespace marginboost {

/// Whether any value is NaN.
template <class T>  // float or double
bool any_missing(const MatrixView<T>& x, int n_threads);

}  // namespace marginboost
