#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/language/syntax.h"
#include "kernels/program/builder.h"
#include "kernels/program/graph.h"
#include "kernels/scalar.h"

namespace shoal::kernels::program {

/// An array that a program is called with. Without a name it is that of the program's names which
/// none of the others has: the first in the text for the first such argument, and so on.
struct ArgumentType {
  std::string name;
  ArrayType type;
};

/// A number that a program is called with, by name. It has no dtype, as if it stood in the text.
struct Parameter {
  std::string name;
  Scalar number;
  WeakKind kind = WeakKind::kFloat;
};

/// What a program is called with.
struct Signature {
  absl::Span<const ArgumentType> arguments;
  absl::Span<const Parameter> parameters;
  absl::Span<const std::string> outputs;  ///< Names that are asked for; none: the program's own.
};

/// Types a program for its arguments. Inputs of the graph are the arguments, in their order.
///
/// Names that are given to nothing: the constants `pi`, `e`, `inf` and `nan`.
///
/// Errors: with the place in the text, where there is one.
///   INVALID_ARGUMENT    a name or a function that there is not, too many or too few arguments,
///                       operands that do not fit each other; the message tells their types.
///   UNIMPLEMENTED       an op that is not built, or not for these dtypes.
///   RESOURCE_EXHAUSTED  a limit.
absl::StatusOr<Graph> TypeProgram(const language::Syntax& syntax, const Signature& signature,
                                  GraphLimits limits = {});

}  // namespace shoal::kernels::program
