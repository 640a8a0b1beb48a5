#include "server/device/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/units.h"
#include "server/memory/arena.h"
#include "server/memory/shortage.h"

namespace shoal::device {
namespace {

class CpuDeviceTest : public testing::Test {
 protected:
  CpuDeviceTest()
      : arena_(*memory::Arena::Create({"arena", 64 * kMiB, true})),
        device_(arena_.get(), {"worker 7", 4, 32 * kMiB, std::chrono::microseconds(20)}) {}

  std::unique_ptr<memory::Arena> arena_;
  CpuDevice device_;
};

TEST_F(CpuDeviceTest, RefusalsNameTheWorkerAndCarryTheNumbers) {
  const absl::Status refused = device_.Allocate(33 * kMiB).status();
  EXPECT_EQ(memory::ShortageOf(refused), (memory::Shortage{33 * kMiB, 32 * kMiB, 32 * kMiB}));
  EXPECT_EQ(std::string(refused.message()).rfind("worker 7: ", 0), 0U) << refused;
}

TEST_F(CpuDeviceTest, AnArenaThatIsFullGivesTheBudgetBack) {
  const memory::Block most = *arena_->Allocate(60 * kMiB);
  EXPECT_FALSE(device_.Allocate(8 * kMiB).ok());
  EXPECT_EQ(device_.MemoryUsed(), 0);
  EXPECT_TRUE(device_.Allocate(kMiB).ok());
}

TEST_F(CpuDeviceTest, InfoSaysWhatItWasGiven) {
  EXPECT_EQ(device_.Info().kind, "cpu");
  EXPECT_EQ(device_.Info().threads, 4);
  EXPECT_EQ(device_.Info().memory_bytes, 32 * kMiB);
  EXPECT_TRUE(device_.Info().host_addressable);
}

TEST(CpuDeviceDeathTest, StreamsMustNotOutliveTheirDevice) {
  EXPECT_DEATH(
      {
        const auto arena = *memory::Arena::Create({"arena", kMiB, true});
        auto device = std::make_unique<CpuDevice>(arena.get(), CpuDeviceOptions{});
        const std::unique_ptr<Stream> stream = *device->NewStream();
        device.reset();
      },
      "stream_count_");
}

}  // namespace
}  // namespace shoal::device
