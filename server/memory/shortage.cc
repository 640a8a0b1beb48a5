#include "server/memory/shortage.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/units.h"

namespace shoal::memory {
namespace {

constexpr char kShortageUrl[] = "shoal/memory.Shortage";

}  // namespace

absl::Status ShortageError(const std::string& owner, const Shortage& shortage) {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      owner, ": ", shortage.needed_bytes, " bytes (", FormatBytes(shortage.needed_bytes),
      ") needed, ", shortage.available_bytes, " bytes (", FormatBytes(shortage.available_bytes),
      ") available of ", FormatBytes(shortage.limit_bytes)));
  status.SetPayload(kShortageUrl,
                    absl::Cord(absl::StrCat(shortage.needed_bytes, " ", shortage.available_bytes,
                                            " ", shortage.limit_bytes)));
  return status;
}

std::optional<Shortage> ShortageOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kShortageUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  std::array<int64_t, 3> numbers = {};
  size_t count = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (count == numbers.size() || !absl::SimpleAtoi(word, &numbers[count])) return std::nullopt;
    ++count;
  }
  if (count != numbers.size()) return std::nullopt;
  return Shortage{numbers[0], numbers[1], numbers[2]};
}

}  // namespace shoal::memory
