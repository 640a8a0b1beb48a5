// What is particular to the CPU's streams: which thread does what. The rest is the conformance
// suite's.
#include "server/device/cpu/cpu_stream.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <thread>

#include "base/units.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::device {
namespace {

int64_t ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

class CpuStreamTest : public testing::Test {
 protected:
  CpuStreamTest()
      : arena_(*memory::Arena::Create({"arena", 64 * kMiB, true})),
        device_(arena_.get(), {"worker 7", 4, 32 * kMiB, std::chrono::microseconds(20)}) {}

  /// Copies on a stream and says on which thread it was done.
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

TEST_F(CpuStreamTest, SmallWorkRunsOnTheCallerAndStartsNoThread) {
  const std::unique_ptr<Stream> stream = *device_.NewStream();
  const int64_t threads = ThreadCount();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(CopyThread(*stream, 10'000), std::this_thread::get_id());
    EXPECT_TRUE(stream->Idle());
  }
  EXPECT_EQ(ThreadCount(), threads);
}

TEST_F(CpuStreamTest, LargeWorkLeavesTheCallerAlone) {
  const std::unique_ptr<Stream> stream = *device_.NewStream();
  EXPECT_NE(CopyThread(*stream, 4 * kMiB), std::this_thread::get_id());
}

}  // namespace
}  // namespace shoal::device
