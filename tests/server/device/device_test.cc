#include "server/device/device.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace shoal::device {
namespace {

/// Gives out addresses that nobody reads, and remembers what came back.
class CountingDevice final : public Device {
 public:
  const DeviceInfo& Info() const override { return info_; }
  absl::StatusOr<Buffer> Allocate(int64_t bytes) override {
    used_ += bytes;
    return Own({memory_, bytes});
  }
  int64_t MemoryUsed() const override { return used_; }
  int64_t MemoryPeak() const override { return used_; }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override {
    return absl::UnimplementedError("no streams");
  }
  const std::vector<Span>& returned() const { return returned_; }

 private:
  void Deallocate(Span span) noexcept override {
    returned_.push_back(span);
    used_ -= span.bytes;
  }

  DeviceInfo info_;
  std::byte memory_[64] = {};
  int64_t used_ = 0;
  std::vector<Span> returned_;
};

TEST(BufferTest, GoesBackToItsDeviceOnce) {
  CountingDevice device;
  {
    Buffer first = *device.Allocate(10);
    const Span span = first.span();
    Buffer second = std::move(first);
    EXPECT_EQ(second.span(), span);
    EXPECT_EQ(second.device(), &device);
    EXPECT_TRUE(device.returned().empty());
    second.Release();
    second.Release();
    EXPECT_EQ(device.returned(), std::vector<Span>{span});
    EXPECT_EQ(second.device(), nullptr);
  }
  EXPECT_EQ(device.returned().size(), 1U);
}

TEST(BufferTest, AssigningReleasesWhatWasHeld) {
  CountingDevice device;
  Buffer buffer = *device.Allocate(10);
  buffer = *device.Allocate(3);
  EXPECT_EQ(device.MemoryUsed(), 3);
  buffer = Buffer();
  EXPECT_EQ(device.MemoryUsed(), 0);
}

TEST(BufferTest, EmptyBuffersOfADeviceGoBackToo) {
  CountingDevice device;
  { const Buffer buffer = *device.Allocate(0); }
  EXPECT_EQ(device.returned().size(), 1U);
}

}  // namespace
}  // namespace shoal::device
