#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/device/span.h"
#include "server/device/stream.h"

namespace shoal::device {

class Device;

/// Memory of a device; goes back to it when the buffer goes.
///
/// The owner releases it only when no queued work uses it any more: streams borrow.
/// Thread-safety: as a value.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { Release(); }

  /// 64-byte aligned. Dereferenced on the host only where the device is `host_addressable`.
  Span span() const { return span_; }
  std::byte* data() const { return span_.data; }
  int64_t bytes() const { return span_.bytes; }
  /// Null for an empty buffer.
  Device* device() const { return device_; }
  /// Gives the memory back now; the buffer is empty afterwards.
  void Release() noexcept;

 private:
  friend class Device;
  Buffer(Device* device, Span span) : device_(device), span_(span) {}

  Device* device_ = nullptr;
  Span span_;
};

struct DeviceInfo {
  std::string kind;              ///< "cpu", "cuda".
  std::string name;              ///< For people: the model, as the system reports it.
  int threads = 1;               ///< Host threads that compute at once; 1 for a GPU.
  int64_t memory_bytes = 0;      ///< The limit of this worker's memory.
  bool host_addressable = true;  ///< Whether the host may read and write buffers in place.
};

/// One worker's compute and memory.
///
/// Must outlive its buffers and streams (checked).
/// Thread-safety: all calls from any thread.
class Device {
 public:
  virtual ~Device() = default;

  /// Fixed for the device's life.
  virtual const DeviceInfo& Info() const = 0;

  /// Memory of `bytes` >= 0, contents undefined, counted against this worker's limit.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  over the limit: the message names needed and available bytes (and see
  ///                       memory::ShortageOf). Checked before anything is touched; asking again
  ///                       helps only once something was freed.
  virtual absl::StatusOr<Buffer> Allocate(int64_t bytes) = 0;

  /// Bytes in buffers now, and the most there ever were.
  virtual int64_t MemoryUsed() const = 0;
  virtual int64_t MemoryPeak() const = 0;

  /// A new queue of work.
  ///
  /// Errors: RESOURCE_EXHAUSTED  the system has no more threads.
  virtual absl::StatusOr<std::unique_ptr<Stream>> NewStream() = 0;

 protected:
  friend class Buffer;
  /// Makes the owner of `span`, for `Allocate`.
  Buffer Own(Span span) { return Buffer(this, span); }
  /// Takes back what `Own` gave out.
  virtual void Deallocate(Span span) noexcept = 0;
};

}  // namespace shoal::device
