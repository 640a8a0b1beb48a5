#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/dtype.h"

namespace shoal::kernels {

inline constexpr int kRankMax = 32;

/// The extent of an array along each axis. Rank 0 is a scalar: one element.
///
/// A Shape is valid by construction: no negative extent, rank at most 32, and the product
/// of the extents below 2^63. An extent of 0 is legal: no elements, the shape is kept.
class Shape {
 public:
  Shape() = default;

  /// Errors:
  ///   INVALID_ARGUMENT  a negative extent, more than 32 axes, or an element count of 2^63 or
  ///                     more. Extents are judged without the zeros: (0, 2^62, 4) is refused,
  ///                     since no axis of it could be reduced over.
  static absl::StatusOr<Shape> Create(absl::Span<const int64_t> extents);

  int rank() const { return static_cast<int>(extents_.size()); }
  absl::Span<const int64_t> extents() const { return extents_; }
  int64_t element_count() const { return element_count_; }

  /// Extent of axis 0; a scalar counts as one row.
  int64_t row_count() const { return extents_.empty() ? 1 : extents_[0]; }
  /// Elements of one row along axis 0; 1 for rank 0 and 1.
  int64_t row_elements() const { return row_elements_; }

  /// Bytes of an array of this shape.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  2^63 bytes or more.
  absl::StatusOr<int64_t> ByteCount(DType dtype) const;

  /// As Python prints it: "()", "(3,)", "(2, 3)".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.extents_ == b.extents_; }
  template <class H>
  friend H AbslHashValue(H state, const Shape& shape) {
    return H::combine(std::move(state), shape.extents_);
  }

 private:
  absl::InlinedVector<int64_t, 4> extents_;
  int64_t element_count_ = 1;
  int64_t row_elements_ = 1;
};

/// What an array is, without where it lies.
struct ArrayType {
  DType dtype = DType::kFloat32;
  Shape shape;

  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

}  // namespace shoal::kernels
