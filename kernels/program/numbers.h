#pragma once

#include <optional>

#include "absl/types/span.h"
#include "kernels/program/builder.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {

/// The value of an op on numbers alone, so that the text `-200` is a number that can be out of a
/// dtype's range: signs (of True and False those of 1 and 0, as in Python), sums, differences,
/// products and powers of integers whose value fits 64 bits, and these and quotients of floats.
/// Nothing for all else: it is computed with the program.
///
/// Bits: those of the op at int64 or float64.
std::optional<Value> FoldNumbers(const OpInfo& op, absl::Span<const Value> operands);

}  // namespace shoal::kernels::program
