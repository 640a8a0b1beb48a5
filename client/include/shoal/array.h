#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shoal/dtype.h"

namespace shoal {

namespace internal {
class Storage;
struct ArrayAccess;
}  // namespace internal

/// An array: dtype, shape, and bytes (little-endian, C order, no padding).
///
/// The bytes lie in one of three kinds of memory, which every call accepts alike:
///   owned     64-byte aligned memory of this process (`Create`, `From`, and what calls return);
///   borrowed  memory of the caller's (`Borrow`): it must outlive every copy of the array;
///   leased    memory that the server has mapped too (`Client::Allocate` on the same host): a call
///             passes it by reference, so its bytes are never copied.
///
/// Copying an Array is cheap and shares the bytes, as a NumPy array's second name does; `Clone`
/// copies them. A call holds its own copy of the handle, so that an owned or leased array may be
/// dropped while an asynchronous call uses it. Leased memory stays valid (readable and writable)
/// after its Client is gone; it is then an ordinary array.
///
/// Thread-safety: as std::vector<char>: copies may be read by many threads; writing the shared
/// bytes needs care by the caller.
///
///     absl::StatusOr<shoal::Array> x = shoal::Array::From<float>({1, 2, 3, 4}, {2, 2});
///     if (!x.ok()) return x.status();
///     absl::StatusOr<absl::Span<const float>> values = x->As<float>();  // OK: it is float32
class Array {
 public:
  /// No elements: uint8 of shape {0}.
  Array();

  /// Owned memory with unspecified contents.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    as `ByteCount`.
  ///   RESOURCE_EXHAUSTED  there is not that much memory.
  static absl::StatusOr<Array> Create(Dtype dtype, Shape shape);

  /// A view of the caller's memory, writable or not. Lifetime: see the class.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  as `ByteCount`, or `bytes` is not of exactly that length.
  static absl::StatusOr<Array> Borrow(Dtype dtype, Shape shape, absl::Span<std::byte> bytes);
  static absl::StatusOr<Array> Borrow(Dtype dtype, Shape shape, absl::Span<const std::byte> bytes);

  /// A copy of `values` in owned memory.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    the shape does not have values.size() elements.
  ///   RESOURCE_EXHAUSTED  there is not that much memory.
  template <typename T>
  static absl::StatusOr<Array> From(absl::Span<const T> values, const Shape& shape) {
    static_assert(kDtypeOf<T>.has_value(), "not an element type of Shoal");
    return CopyOf(*kDtypeOf<T>, shape,
                  absl::MakeConstSpan(reinterpret_cast<const std::byte*>(values.data()),
                                      values.size() * sizeof(T)));
  }

  /// The same, of rank 1.
  template <typename T>
  static absl::StatusOr<Array> From(absl::Span<const T> values) {
    return From<T>(values, {static_cast<int64_t>(values.size())});
  }

  Dtype dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t element_count() const { return byte_count_ / ItemBytes(dtype_); }
  int64_t byte_count() const { return byte_count_; }

  /// True: the memory is shared with a server, and a call of its Client passes it by reference.
  bool leased() const;
  /// False: a view of constant memory.
  bool writable() const { return writable_; }

  absl::Span<const std::byte> data() const { return {data_, static_cast<size_t>(byte_count_)}; }
  /// Empty if the array is not `writable`.
  absl::Span<std::byte> mutable_data() {
    return {data_, writable_ ? static_cast<size_t>(byte_count_) : 0};
  }

  /// The elements, in C order.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT     T is not the C++ type of `dtype` (uint8_t also reads a bool array).
  ///   FAILED_PRECONDITION  borrowed memory that is not aligned for T.
  template <typename T>
  absl::StatusOr<absl::Span<const T>> As() const {
    if (absl::Status fits = CheckType<T>(); !fits.ok()) return fits;
    return absl::MakeConstSpan(reinterpret_cast<const T*>(data_),
                               static_cast<size_t>(byte_count_) / sizeof(T));
  }

  /// The elements, to be written.
  ///
  /// Errors: as `As`, and FAILED_PRECONDITION if the array is not `writable`.
  template <typename T>
  absl::StatusOr<absl::Span<T>> MutableAs() {
    if (absl::Status fits = CheckType<T>(); !fits.ok()) return fits;
    if (!writable_) return absl::FailedPreconditionError("the array is a view of constant memory");
    return absl::MakeSpan(reinterpret_cast<T*>(data_),
                          static_cast<size_t>(byte_count_) / sizeof(T));
  }

  /// A copy of the bytes in owned memory. Errors: RESOURCE_EXHAUSTED.
  absl::StatusOr<Array> Clone() const;

  /// The same bytes under another shape.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  the number of elements differs.
  absl::StatusOr<Array> Reshape(Shape shape) const;

 private:
  friend struct internal::ArrayAccess;

  static absl::StatusOr<Array> CopyOf(Dtype dtype, Shape shape, absl::Span<const std::byte> bytes);
  absl::Status CheckElement(Dtype wanted, size_t alignment) const;
  template <typename T>
  absl::Status CheckType() const {
    static_assert(kDtypeOf<T>.has_value(), "not an element type of Shoal");
    return CheckElement(*kDtypeOf<T>, alignof(T));
  }

  Dtype dtype_ = Dtype::kUint8;
  bool writable_ = true;
  int64_t byte_count_ = 0;
  Shape shape_;
  std::byte* data_ = nullptr;
  // Shared between all copies of the array and the calls that use it; null for borrowed memory.
  std::shared_ptr<const internal::Storage> storage_;
};

/// Same dtype, shape and bytes (so a NaN equals itself, and 0.0 differs from -0.0).
bool SameBytes(const Array& a, const Array& b);

}  // namespace shoal
