#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace shoal {

/// The longest beginning of `text` that is at most `bytes_max` long and ends between characters.
///
/// For what goes back into a protobuf string: half a character there makes the whole message
/// unreadable. `text` is UTF-8; of other bytes any beginning may come.
inline absl::string_view Utf8Prefix(absl::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  const auto continues = [text](size_t at) { return (text[at] & 0xC0) == 0x80; };
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end);
}

}  // namespace shoal
