#include "shoal/array.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/copy.h"
#include "base/status.h"
#include "client/src/storage.h"

namespace shoal {
namespace {

absl::Status WrongLength(Dtype dtype, const Shape& shape, size_t given) {
  return absl::InvalidArgumentError(absl::StrCat(DtypeName(dtype), " of shape (",
                                                 absl::StrJoin(shape, ", "), ") does not take ",
                                                 given, " bytes"));
}

}  // namespace

Array::Array() : shape_({0}) {}

absl::StatusOr<Array> Array::Create(Dtype dtype, Shape shape) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(dtype, shape));
  SHOAL_ASSIGN_OR_RETURN(internal::StorageRef storage, internal::AllocateHeap(bytes));
  return internal::ArrayAccess::Make(dtype, std::move(shape), bytes, std::move(storage));
}

absl::StatusOr<Array> Array::Borrow(Dtype dtype, Shape shape, absl::Span<std::byte> bytes) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t wanted, ByteCount(dtype, shape));
  if (static_cast<size_t>(wanted) != bytes.size()) return WrongLength(dtype, shape, bytes.size());
  Array array;
  array.dtype_ = dtype;
  array.shape_ = std::move(shape);
  array.byte_count_ = wanted;
  array.data_ = bytes.data();
  return array;
}

absl::StatusOr<Array> Array::Borrow(Dtype dtype, Shape shape, absl::Span<const std::byte> bytes) {
  // The flag `writable` keeps the promise that the cast takes from the compiler.
  auto* data = const_cast<std::byte*>(bytes.data());
  SHOAL_ASSIGN_OR_RETURN(Array array,
                         Borrow(dtype, std::move(shape), absl::MakeSpan(data, bytes.size())));
  array.writable_ = false;
  return array;
}

absl::StatusOr<Array> Array::CopyOf(Dtype dtype, Shape shape, absl::Span<const std::byte> bytes) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t wanted, ByteCount(dtype, shape));
  if (static_cast<size_t>(wanted) != bytes.size()) return WrongLength(dtype, shape, bytes.size());
  SHOAL_ASSIGN_OR_RETURN(Array array, Create(dtype, std::move(shape)));
  CopyBytes(array.data_, bytes.data(), wanted);
  return array;
}

bool Array::leased() const { return storage_ != nullptr && storage_->place() != nullptr; }

absl::Status Array::CheckElement(Dtype wanted, size_t alignment) const {
  const bool bool_as_bytes = wanted == Dtype::kUint8 && dtype_ == Dtype::kBool;
  if (wanted != dtype_ && !bool_as_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the array is ", DtypeName(dtype_), ", asked for as ", DtypeName(wanted)));
  }
  if (reinterpret_cast<uintptr_t>(data_) % alignment != 0) {
    return absl::FailedPreconditionError("borrowed memory is not aligned for its elements");
  }
  return absl::OkStatus();
}

absl::StatusOr<Array> Array::Clone() const { return CopyOf(dtype_, shape_, data()); }

absl::StatusOr<Array> Array::Reshape(Shape shape) const {
  SHOAL_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(dtype_, shape));
  if (bytes != byte_count_) {
    return WrongLength(dtype_, shape, static_cast<size_t>(byte_count_));
  }
  Array array = *this;
  array.shape_ = std::move(shape);
  return array;
}

bool SameBytes(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.data().begin(), a.data().end(), b.data().begin(), b.data().end());
}

}  // namespace shoal
