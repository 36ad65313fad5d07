#include "marginboost/predict/link.hpp"

#include <algorithm>

#include "marginboost/predict/exponential.hpp"
#include "marginboost/threads/thread_pool.hpp"

namespace marginboost {
namespace {

void scale_to_one(std::span<double> scores) {
  double sum = 0.0;
  for (const double score : scores) sum += score;
  for (double& score : scores) score /= sum;
}

void softmax(double factor, std::span<double> scores) {
  for (double& score : scores) score *= factor;
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = exponential(score - largest);
  scale_to_one(scores);
}

}  // namespace

void to_probabilities(Link link, double factor, std::span<double> scores) {
  if (link == Link::none) return;
  if (link == Link::softmax || scores.size() == 2) {
    softmax(link == Link::softmax ? factor : 1.0, scores);
    return;
  }
  for (double& score : scores) score = std::max(1.0 / (1.0 + exponential(-2.0 * score)), 1e-300);
  scale_to_one(scores);
}

void to_probabilities(Link link, double factor, std::int64_t n_classes, int n_threads,
                      std::span<double> scores) {
  const auto k = static_cast<std::size_t>(n_classes);
  const std::size_t n_rows = scores.size() / k;
  constexpr std::size_t kScoresATask = 4096;
  const std::size_t rows = std::max<std::size_t>(1, kScoresATask / k);
  const auto n_tasks = static_cast<std::int64_t>((n_rows + rows - 1) / rows);
  parallel_for(n_tasks, n_threads, [&](std::int64_t task, int) {
    const std::size_t begin = static_cast<std::size_t>(task) * rows;
    const std::size_t end = std::min(n_rows, begin + rows);
    for (std::size_t i = begin; i < end; ++i) to_probabilities(link, factor, scores.subspan(i * k, k));
  });
}

}  // namespace marginboost
