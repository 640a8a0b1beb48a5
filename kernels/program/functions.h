#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/program/builder.h"
#include "kernels/program/reductions.h"

namespace shoal::kernels::program {

/// A function of programs that is no op itself: it is made of ops, or is another name of one.
struct Function {
  absl::string_view name;
  absl::string_view doc;  ///< One sentence.
  int8_t operands = 1;
  /// One of the two is set. The second takes options: axes and the like.
  absl::StatusOr<Value> (*make)(GraphBuilder& builder, absl::Span<const Value> operands) = nullptr;
  absl::StatusOr<Value> (*reduce)(GraphBuilder& builder, const Value& operand,
                                  const ReduceOptions& options) = nullptr;
};

/// Every such function, in the order of the documentation. The span lives for ever.
absl::Span<const Function> AllFunctions();

/// The function of that name, or null.
const Function* FindFunction(absl::string_view name);

/// The op of that name, or the one that it is another name of; null: there is none.
const OpInfo* FindOpOrAlias(absl::string_view name);

}  // namespace shoal::kernels::program
