#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace shoal::kernels::language {

/// A part of a program's text, in bytes.
struct SourceSpan {
  int32_t begin = 0;
  int32_t end = 0;  ///< Beyond the last byte; equal to `begin` at the end of the text.

  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

/// INVALID_ARGUMENT that points at its place:
///
///     program, line 2, column 5: expected an expression, found ')'
///       y = )
///           ^
///
/// Lines and columns count from 1, columns in code points. A long line is cut to what surrounds the
/// place. The message is valid UTF-8 and has no control bytes, whatever the text holds.
absl::Status SourceError(absl::string_view source, SourceSpan where, absl::string_view message);

/// The same place for a status that an operation at `where` ended with: its code is kept.
absl::Status AtSource(absl::string_view source, SourceSpan where, const absl::Status& status);

/// "line 2, column 5": for messages that speak of another place.
std::string PlaceName(absl::string_view source, int32_t at);

}  // namespace shoal::kernels::language
