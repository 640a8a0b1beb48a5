#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "server/device/cpu/cpu_device.h"
#include "server/device/device.h"
#include "server/memory/budget.h"

namespace shoal::support {

/// A CPU device that behaves like a GPU: the host cannot touch its memory, and it can touch no
/// other.
///
/// Its memory is inaccessible to the whole process except while one of its own operations (or a
/// pause, in which collectives move bytes) has been reached on a stream: a touch by the host
/// faults. Every span and pointer that it is handed is checked to be on its proper side. Nothing
/// runs on the calling thread.
class SealedDevice final : public device::Device {
 public:
  /// Borrows `arena` for what the device keeps to itself.
  SealedDevice(memory::Arena* arena, const device::CpuDeviceOptions& options);
  ~SealedDevice() override;

  const device::DeviceInfo& Info() const override { return info_; }
  absl::StatusOr<device::Buffer> Allocate(int64_t bytes) override;
  int64_t MemoryUsed() const override { return budget_.used_bytes(); }
  int64_t MemoryPeak() const override { return budget_.peak_bytes(); }
  absl::StatusOr<std::unique_ptr<device::Stream>> NewStream() override;

  /// For its streams: the memory is accessible from an Unseal to its Seal.
  void Unseal();
  void Seal();
  /// Whether `span` is empty or lies in this device's memory.
  bool Holds(device::ConstSpan span) const;
  /// Whether `span` is empty or lies elsewhere.
  bool IsElsewhere(device::ConstSpan span) const;

 private:
  void Deallocate(device::Span span) noexcept override;

  device::CpuDevice inner_;
  device::DeviceInfo info_;
  memory::Budget budget_;
  const int64_t region_bytes_;
  std::byte* const region_;
  std::mutex mutex_;
  std::map<int64_t, int64_t> extents_;  // Offset and size of what is allocated.
  int unsealed_ = 0;
};

}  // namespace shoal::support
