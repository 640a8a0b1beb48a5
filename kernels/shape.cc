#include "kernels/shape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace shoal::kernels {
namespace {

absl::Status TooLarge(absl::Span<const int64_t> extents) {
  return absl::InvalidArgumentError(absl::StrCat("shape (", absl::StrJoin(extents, ", "),
                                                 ") has 2^63 elements or bytes, or more"));
}

}  // namespace

absl::StatusOr<Shape> Shape::Create(absl::Span<const int64_t> extents) {
  if (extents.size() > kRankMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", extents.size(), " is above the maximum of ", kRankMax));
  }
  Shape shape;
  int64_t nonzero_product = 1;
  bool empty = false;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const int64_t extent = extents[axis];
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("extent ", extent, " of axis ", axis, " is negative"));
    }
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(nonzero_product, extent, &nonzero_product)) {
      return TooLarge(extents);
    }
    if (axis > 0) shape.row_elements_ *= extent;  // Cannot overflow: a part of the product above.
  }
  shape.extents_.assign(extents.begin(), extents.end());
  shape.element_count_ = empty ? 0 : nonzero_product;
  return shape;
}

absl::StatusOr<int64_t> Shape::ByteCount(DType dtype) const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count_, ItemBytes(dtype), &bytes)) {
    return TooLarge(extents_);
  }
  return bytes;
}

std::string Shape::ToString() const {
  return absl::StrCat("(", absl::StrJoin(extents_, ", "), extents_.size() == 1 ? ",)" : ")");
}

}  // namespace shoal::kernels
