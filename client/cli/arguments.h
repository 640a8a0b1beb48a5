#pragma once

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "shoal/call.h"

namespace shoal::cli {

/// An input of `shoal apply`: `NAME=VALUE` or `VALUE`, where VALUE is a path, "-", `@NAME` or
/// `@#ID`. What stands before '=' is a name only if it is an identifier, so `./a=b.npy` is a path.
struct InputArgument {
  std::string name;                           ///< Empty: none.
  std::variant<std::string, ArrayRef> value;  ///< A path, or an array that the server holds.
};

/// Errors of all: INVALID_ARGUMENT as UsageError, naming the text.
absl::StatusOr<InputArgument> ParseInput(const std::string& text);

/// `NAME`, `@NAME`, `#ID` or `@#ID`.
absl::StatusOr<ArrayRef> ParseArrayRef(const std::string& text);

/// `NAME=VALUE`: true or false, a whole number (int64, else uint64), or a real number.
absl::StatusOr<Param> ParseParam(const std::string& text);

/// `block`, `replicated` or `single`, each perhaps with workers: `single:3`, `block:0,2`.
absl::StatusOr<Distribution> ParseDistribution(const std::string& text);

}  // namespace shoal::cli
