#include "marginboost/link.hpp"

#include <algorithm>
#include <cmath>

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
  for (double& score : scores) score = std::exp(score - largest);
  scale_to_one(scores);
}

}  // namespace

void to_probabilities(Link link, double factor, std::span<double> scores) {
  if (link == Link::none) return;
  if (link == Link::softmax || scores.size() == 2) {
    softmax(link == Link::softmax ? factor : 1.0, scores);
    return;
  }
  for (double& score : scores) score = std::max(1.0 / (1.0 + std::exp(-2.0 * score)), 1e-300);
  scale_to_one(scores);
}

}  // namespace marginboost
