// Sizes as users write them: whatever the text, a size comes out or an error does; a size written
// as a plain number reads back as itself, and can be shown.

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  const absl::StatusOr<int64_t> bytes = shoal::ParseBytes(absl::string_view(text, size));
  if (!bytes.ok()) {
    SHOAL_CHECK(bytes.status().code() == absl::StatusCode::kInvalidArgument);
    return 0;
  }
  SHOAL_CHECK(*bytes >= 0);
  const absl::StatusOr<int64_t> again = shoal::ParseBytes(std::to_string(*bytes));
  SHOAL_CHECK(again.ok() && *again == *bytes);
  SHOAL_CHECK(!shoal::FormatBytes(*bytes).empty());
  return 0;
}
