// What is particular to the CPU: threads that exist only when wanted, and what runs where.
#include "server/device/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <thread>

#include "base/units.h"
#include "server/device/cpu/cpu_work.h"
#include "server/memory/arena.h"
#include "server/memory/shortage.h"

namespace shoal::device {
namespace {

int64_t ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

class CpuDeviceTest : public testing::Test {
 protected:
  CpuDeviceTest()
      : arena_(*memory::Arena::Create({"arena", 64 * kMiB, true})),
        device_(arena_.get(), {"worker 7", 4, 32 * kMiB, std::chrono::microseconds(20)}) {}

  /// Copies on a new stream and says on which thread it was done.
  std::thread::id CopyThread(Stream& stream, int64_t bytes) {
    const Buffer from = *device_.Allocate(bytes);
    const Buffer to = *device_.Allocate(bytes);
    std::promise<std::thread::id> thread;
    stream.Copy(from.span(), to.span(),
                [&](const absl::Status&) { thread.set_value(std::this_thread::get_id()); });
    return thread.get_future().get();
  }

  std::unique_ptr<memory::Arena> arena_;
  CpuDevice device_;
};

TEST_F(CpuDeviceTest, SmallWorkRunsOnTheCallerAndStartsNoThread) {
  const int64_t threads = ThreadCount();
  const std::unique_ptr<Stream> stream = *device_.NewStream();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(CopyThread(*stream, 10'000), std::this_thread::get_id());
    EXPECT_TRUE(stream->Idle());
  }
  EXPECT_EQ(ThreadCount(), threads);
}

TEST_F(CpuDeviceTest, LargeWorkLeavesTheCallerAlone) {
  const std::unique_ptr<Stream> stream = *device_.NewStream();
  EXPECT_NE(CopyThread(*stream, 4 * kMiB), std::this_thread::get_id());
}

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

TEST(CostTest, GrowsWithTheWorkAndNeverOverflows) {
  MapWork work{kernels::FindOp("add"), {}};
  work.args.dtype = kernels::DType::kFloat32;
  work.args.count = 1000;
  const Duration small = EstimatedCost(work);
  work.args.count = 1'000'000;
  EXPECT_GT(EstimatedCost(work), 100 * small);
  work.args.count = INT64_MAX / 4;
  EXPECT_GT(EstimatedCost(work), std::chrono::hours(1));
  EXPECT_GT(EstimatedCopyCost(INT64_MAX), std::chrono::hours(1));
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
