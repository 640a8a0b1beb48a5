#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "server/device/device.h"
#include "server/memory/budget.h"
#include "server/plan/call.h"
#include "server/plan/distribution.h"

namespace shoal::runtime {

/// The part of an array that one worker holds.
struct Shard {
  WorkerId worker;
  plan::Range elements;
  memory::Reservation counted = {};  ///< Of its worker's `stored`; goes after the buffer.
  device::Buffer buffer = {};
  /// The way to its bytes where the host cannot touch them; null: it can.
  device::Stream* way = nullptr;
};

/// An array on the workers: of the catalogue, or of one call.
///
/// Thread-safety: shape and shards never change; the rest as marked.
struct StoredArray {
  ArrayId id;        ///< None for an array of one call.
  std::string name;  ///< Empty: none.
  plan::ArrayType type;
  plan::Distribution distribution;
  std::vector<Shard> shards;  ///< In rank order, empty ones included.
  int64_t bytes = 0;          ///< dtype size x element count.

  /// Bytes landed from the start without gaps. Written by the one upload that fills it.
  std::atomic<int64_t> landed_bytes = 0;
  std::atomic<bool> complete = false;
  /// Calls and transfers that use it now. Raised under the catalogue's lock only.
  std::atomic<int32_t> uses = 0;
};

/// Keeps an array from being freed or laid out anew while it is used. Move-only.
class ArrayUse {
 public:
  ArrayUse() = default;
  /// `array` has already been counted as used once more.
  explicit ArrayUse(std::shared_ptr<StoredArray> array) : array_(std::move(array)) {}
  ArrayUse(ArrayUse&& other) noexcept : array_(std::move(other.array_)) {}
  ArrayUse& operator=(ArrayUse&& other) noexcept {
    std::swap(array_, other.array_);
    return *this;
  }
  ~ArrayUse() {
    if (array_ != nullptr) array_->uses.fetch_sub(1, std::memory_order_release);
  }

  StoredArray* operator->() const { return array_.get(); }
  StoredArray& operator*() const { return *array_; }
  /// The array is one owner, the catalogue the other.
  const std::shared_ptr<StoredArray>& array() const { return array_; }

 private:
  std::shared_ptr<StoredArray> array_;
};

}  // namespace shoal::runtime
