#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/language/syntax.h"

namespace shoal::kernels::language {

/// What a text may have at most: checked before anything of that size is made.
struct ParseLimits {
  int32_t source_bytes = 64 << 10;
  int32_t depth = 256;  ///< Of brackets and operators within each other.
  int32_t nodes = 16'384;
};

/// Reads a program (docs/language.md): statements between `;` or line ends, each an expression with
/// Python's operators and precedence, or `name = expression`.
///
/// Outputs: of the last statement, if it is an expression (each element, if it is a tuple); else
/// every name that was assigned, in that order, but those that begin with `_`.
///
/// Errors:
///   INVALID_ARGUMENT    not a program; the message points at the place.
///   RESOURCE_EXHAUSTED  above a limit.
/// Thread-safety: a function of its arguments. Recursion is bounded by `limits.depth`.
absl::StatusOr<Syntax> Parse(absl::string_view source, const ParseLimits& limits = {});

}  // namespace shoal::kernels::language
