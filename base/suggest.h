#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// The candidate that `word` was probably meant to be, or "" when none is near.
///
/// Near: it begins with `word` (two letters and more), or at most a third of its letters (at
/// least one, at most three) were inserted, dropped, changed or swapped with their neighbour. The
/// first of several equally near ones. Costs |word| x |candidate| steps each; both are cut at 64.
std::string NearestWord(std::string_view word, std::span<const std::string> candidates);

/// `NearestWord` as the end of an error message: "; did you mean 'sort'?", or "".
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

}  // namespace shoal
