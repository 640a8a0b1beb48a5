#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace shoal::memory {

/// Why an allocation was refused; rides on the status, so that the border can name the numbers.
struct Shortage {
  int64_t needed_bytes = 0;
  int64_t available_bytes = 0;
  int64_t limit_bytes = 0;

  /// More than there is in all: asking again is pointless.
  bool IsPermanent() const { return needed_bytes > limit_bytes; }
  friend bool operator==(const Shortage&, const Shortage&) = default;
};

/// RESOURCE_EXHAUSTED, naming `owner` (as "worker 3") and the numbers, which `ShortageOf` finds.
absl::Status ShortageError(const std::string& owner, const Shortage& shortage);

/// The numbers of a status made by `ShortageError`, or nothing.
std::optional<Shortage> ShortageOf(const absl::Status& status);

}  // namespace shoal::memory
