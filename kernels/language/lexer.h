#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/language/source_error.h"
#include "kernels/language/syntax.h"

namespace shoal::kernels::language {

enum class TokenKind : uint8_t {
  kNumber,
  kName,      ///< Keywords too.
  kOperator,  ///< Brackets, commas, operators: what the text has there.
  kBreak,     ///< Between statements: ';', or a line's end outside of brackets.
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  SourceSpan where;
  absl::string_view text;  ///< Of the source.
  Literal number;          ///< Of kNumber.
};

/// The text as tokens, the last one kEnd.
///
/// Errors: INVALID_ARGUMENT  bytes that belong to no token, a number that is none or too large,
///                           brackets nested deeper than `depth_max`, a string; each with its
///                           place.
absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view source, int32_t depth_max);

}  // namespace shoal::kernels::language
