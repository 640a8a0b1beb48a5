#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Return early with the error of an expression, or bind its value. The names of the temporaries
// carry the line, so that several fit in one scope.
#define SHOAL_CONCAT_INNER(a, b) a##b
#define SHOAL_CONCAT(a, b) SHOAL_CONCAT_INNER(a, b)

/// Returns the status of `expression` from the enclosing function unless it is OK.
///
/// A loop that ends in its first round, not an `if`: it takes no `else` that belongs to another,
/// and no braces, which would count as a level of nesting wherever it stands.
#define SHOAL_RETURN_IF_ERROR(expression) \
  for (absl::Status shoal_status = (expression); !shoal_status.ok();) return shoal_status

/// `SHOAL_ASSIGN_OR_RETURN(auto x, F())`: x takes the value of the StatusOr F(), or its error is
/// returned from the enclosing function.
#define SHOAL_ASSIGN_OR_RETURN(declaration, expression) \
  SHOAL_ASSIGN_OR_RETURN_IMPL(SHOAL_CONCAT(shoal_statusor_, __LINE__), declaration, expression)
#define SHOAL_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result.ok()) return std::move(result).status();               \
  declaration = *std::move(result)
