#include "marginboost/trees/round_draws.hpp"

#include <algorithm>
#include <vector>

#include "bindings.hpp"

namespace marginboost {
namespace {

// Draws of features by their numbers in a list; classes whose signs are not drawn have 1.
class BoundRoundDraws {
 public:
  BoundRoundDraws(const Input<std::int32_t, 1>& features, std::int64_t n_drawn, bool seeds,
                  std::int64_t n_classes, bool signs)
      : features_(features.data(), features.data() + features.size()),
        n_classes_(static_cast<std::size_t>(n_classes)),
        draws_({seeds, static_cast<std::int64_t>(features.size()), n_drawn, signs ? n_classes : 0}) {
    require(n_drawn >= 0 && n_drawn <= static_cast<std::int64_t>(features.size()),
            "n_drawn must be from 0 to the number of features.");
    require(n_classes >= 1, "n_classes must be at least 1.");
  }

  std::size_t n_words() const { return draws_.n_words(); }
  void feed(const Input<std::uint64_t, 1>& words) { draws_.feed(span_of(words)); }

  // Some rounds, fewer where there are too few words: how many, and their seeds, features and signs.
  nb::tuple draw(std::size_t n_rounds) {
    const auto d = static_cast<std::size_t>(draws_.rules().n_drawn);
    std::uint64_t* seeds;
    std::int32_t* features;
    float* signs;
    auto all_seeds = new_array<std::uint64_t>({n_rounds}, &seeds);
    auto all_features = new_array<std::int32_t>({n_rounds, d}, &features);
    auto all_signs = new_array<float>({n_rounds, n_classes_}, &signs);
    std::fill_n(seeds, n_rounds, std::uint64_t{0});
    std::fill_n(signs, n_rounds * n_classes_, 1.0F);
    std::size_t n = 0;
    while (n < n_rounds && draws_.draw(seeds[n], features + n * d, signs + n * n_classes_)) {
      for (std::size_t j = n * d; j < (n + 1) * d; ++j) {
        features[j] = features_[static_cast<std::size_t>(features[j])];
      }
      ++n;
    }
    return nb::make_tuple(n, all_seeds, all_features, all_signs);
  }

  nb::object draw_signs() {
    float* signs;
    auto array = new_array<float>({n_classes_}, &signs);
    std::fill_n(signs, n_classes_, 1.0F);
    return draws_.draw_signs(signs) ? nb::cast(array) : nb::none();
  }

 private:
  std::vector<std::int32_t> features_;
  std::size_t n_classes_;
  RoundDraws draws_;
};

}  // namespace

void bind_round_draws(nb::module_& m) {
  nb::class_<BoundRoundDraws>(m, "RoundDraws")
      .def(nb::init<const Input<std::int32_t, 1>&, std::int64_t, bool, std::int64_t, bool>(),
           nb::arg("features"), nb::arg("n_drawn"), nb::arg("seeds"), nb::arg("n_classes"),
           nb::arg("signs"))
      .def_prop_ro("n_words", &BoundRoundDraws::n_words)
      .def("feed", &BoundRoundDraws::feed, nb::arg("words"))
      .def("draw", &BoundRoundDraws::draw, nb::arg("n_rounds"))
      .def("draw_signs", &BoundRoundDraws::draw_signs);
}

}  // namespace marginboost
