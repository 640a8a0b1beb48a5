#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;

/// Reads a size in bytes: a whole number with an optional unit B, KiB, MiB, GiB or TiB.
///
/// The short forms K, M, G, T mean the same powers of 1024. A fraction is taken where it
/// comes to whole bytes ("1.5KiB" is 1536).
///
/// Errors:
///   INVALID_ARGUMENT  not of that form, negative, or 2^63 and more.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

/// The size with three significant digits in the largest unit that keeps it at 1 or more,
/// exact multiples without a fraction: "512 B", "1 MiB", "1.50 GiB".
std::string FormatBytes(int64_t bytes);

}  // namespace shoal
