#pragma once

#include <cstdint>

#include "kernels/dtype.h"

// NumPy's promotion (NEP 50), with bfloat16 as another float of 16 bits.
namespace shoal::kernels::program {

/// A number without a dtype of its own, as literals are: it takes that of the array it meets, if
/// that can hold its kind of value.
enum class WeakKind : uint8_t { kBool, kInt, kFloat, kComplex };

/// The dtype that elements of both are converted to before they meet.
DType Promote(DType a, DType b);

/// The same for an array and a number of that kind.
DType PromoteWeak(DType array, WeakKind kind);

/// What a number of that kind is where there is no array: bool, int64, float64, complex128.
DType DefaultDType(WeakKind kind);

}  // namespace shoal::kernels::program
