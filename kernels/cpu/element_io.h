#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/op_code.h"
#include "kernels/dtype.h"
#include "kernels/map.h"
#include "kernels/scalar.h"

// Elements on their way into the interpreter's registers, whatever their dtype.
namespace shoal::kernels::cpu {

/// The parameter as it would be as an element of the array (NEP 50). It passed ValidateParams.
Param ParamFor(DType dtype, const Scalar& scalar);

/// Writes the scalar as an element of the dtype: rounded for floats, modulo 2^bits for integers,
/// whether it is not 0 for bool.
void StoreScalar(DType dtype, const Scalar& scalar, std::byte* element);

/// A half in the first two bytes becomes a float32 in the first four.
void WidenElement(DType dtype, std::byte* element);

/// Writes `count` copies of the element.
void FillElements(const std::byte* element, int64_t item_bytes, int64_t count, std::byte* out);

/// An input that is broadcast: its axes as in MapInput.
struct BroadcastSource {
  const std::byte* data = nullptr;
  int64_t item_bytes = 0;
  std::span<const BroadcastAxis> axes;
};

/// Copies the elements that go with the indices [first_index, first_index + count).
void GatherBroadcast(const BroadcastSource& source, int64_t first_index, int64_t count,
                     std::byte* out);

}  // namespace shoal::kernels::cpu
