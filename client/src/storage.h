#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "shoal/array.h"

namespace shoal::internal {

/// Where a piece of memory lies in a lease.
struct LeasePlace {
  const void* arena = nullptr;  ///< The LeaseArena that it belongs to.
  uint64_t lease_id = 0;
  uint64_t token = 0;
  int64_t offset = 0;
};

/// Memory that arrays share. Its destructor gives it back to where it came from.
class Storage {
 public:
  Storage(std::byte* data, int64_t capacity) : data_(data), capacity_(capacity) {}
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  int64_t capacity() const { return capacity_; }

  /// Null: not in a lease.
  virtual const LeasePlace* place() const { return nullptr; }

 private:
  std::byte* const data_;
  const int64_t capacity_;
};

// Shared between the copies of an array and the gRPC slices that refer to it.
using StorageRef = std::shared_ptr<const Storage>;

/// 64-byte aligned memory from the heap with unspecified contents; large blocks in huge pages where
/// the kernel grants them, because first touch is the dearest part of a large transfer.
///
/// Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<std::byte*> AllocateAligned(int64_t bytes);
void FreeAligned(std::byte* data);

/// Memory of its own from `AllocateAligned`.
absl::StatusOr<StorageRef> AllocateHeap(int64_t bytes);

/// The way to an array's insides for the library itself.
struct ArrayAccess {
  /// An array of valid dtype and shape over `storage`, which has room for it.
  static Array Make(Dtype dtype, Shape shape, int64_t byte_count, StorageRef storage) {
    Array array;
    array.dtype_ = dtype;
    array.shape_ = std::move(shape);
    array.byte_count_ = byte_count;
    array.data_ = storage->data();
    array.storage_ = std::move(storage);
    return array;
  }
  /// The same memory as another dtype and shape of the same byte count.
  static absl::StatusOr<Array> WithSpec(const Array& array, Dtype dtype, Shape shape,
                                        int64_t byte_count) {
    if (byte_count != array.byte_count_) return absl::InternalError("byte counts differ");
    Array other = array;
    other.dtype_ = dtype;
    other.shape_ = std::move(shape);
    return other;
  }
  /// Null: borrowed.
  static const StorageRef& storage(const Array& array) { return array.storage_; }
};

}  // namespace shoal::internal
