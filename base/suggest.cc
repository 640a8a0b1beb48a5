#include "base/suggest.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace shoal {
namespace {

constexpr size_t kLengthMax = 64;
constexpr int kDistanceMax = 3;
using Row = std::array<int, kLengthMax + 1>;

// The optimal string alignment distance: Levenshtein's, with a swap of neighbours counted as one.
int EditDistance(std::string_view a, std::string_view b) {
  Row before_last{}, last{}, current{};
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({change, last[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = current;
  }
  return last[b.size()];
}

}  // namespace

std::string NearestWord(std::string_view word, std::span<const std::string> candidates) {
  word = word.substr(0, kLengthMax);
  std::string nearest;
  int nearest_distance = kDistanceMax + 1;
  for (const std::string& candidate : candidates) {
    const std::string_view known = std::string_view(candidate).substr(0, kLengthMax);
    const int allowed = std::clamp(static_cast<int>(known.size()) / 3, 1, kDistanceMax);
    const bool begins = word.size() >= 2 && known.starts_with(word);
    const int distance = begins ? 1 : EditDistance(word, known);
    if (distance > allowed || distance >= nearest_distance) continue;
    nearest_distance = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace shoal
