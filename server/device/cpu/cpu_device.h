#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/time.h"
#include "server/device/device.h"
#include "server/memory/arena.h"
#include "server/memory/budget.h"
#include "server/threads/team.h"

namespace shoal::device {

struct CpuDeviceOptions {
  std::string owner = "worker 0";  ///< Names the budget in messages.
  int threads = 1;                 ///< Cores this device computes on at once, >= 1.
  int64_t memory_bytes = 0;        ///< The limit of this device's buffers.
  /// Work that takes less than this, by the op table's estimate, runs on the thread that queues
  /// it when the stream is idle: waking another thread costs more.
  Duration inline_cost_max = std::chrono::microseconds(20);
};

/// A share of the CPU as a device: buffers from the process's arena, each stream a thread of its
/// own, and `threads - 1` helpers that all streams share.
///
/// No thread exists before work is too large to run inline.
class CpuDevice final : public Device {
 public:
  /// Borrows `arena`, which must outlive the device.
  CpuDevice(memory::Arena* arena, CpuDeviceOptions options);
  ~CpuDevice() override;

  const DeviceInfo& Info() const override { return info_; }
  absl::StatusOr<Buffer> Allocate(int64_t bytes) override;
  int64_t MemoryUsed() const override { return budget_.used_bytes(); }
  int64_t MemoryPeak() const override { return budget_.peak_bytes(); }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override;

 private:
  void Deallocate(Span span) noexcept override;

  memory::Arena* const arena_;
  const CpuDeviceOptions options_;
  const DeviceInfo info_;
  memory::Budget budget_;
  threads::Team helpers_;
  std::atomic<int> stream_count_ = 0;
};

}  // namespace shoal::device
