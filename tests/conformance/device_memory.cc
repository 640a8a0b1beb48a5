// Memory, copies and the order of a stream.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/conformance/device_suite.h"

namespace shoal::device {
namespace {

std::vector<uint8_t> Pattern(int64_t bytes, uint32_t seed) {
  std::vector<uint8_t> pattern(static_cast<size_t>(bytes));
  for (uint8_t& byte : pattern) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return pattern;
}

TEST_P(DeviceSuite, DescribesItself) {
  const DeviceInfo& info = device().Info();
  EXPECT_FALSE(info.kind.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.threads, 1);
  EXPECT_EQ(info.memory_bytes, kSuiteMemoryBytes);
}

TEST_P(DeviceSuite, BuffersAreAlignedAndCounted) {
  {
    std::vector<Buffer> buffers;
    int64_t total = 0;
    for (const int64_t bytes : {0, 1, 63, 64, 65, 100'000, 5'000'001}) {
      absl::StatusOr<Buffer> buffer = device().Allocate(bytes);
      ASSERT_TRUE(buffer.ok()) << buffer.status();
      EXPECT_EQ(buffer->bytes(), bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0U);
      total += bytes;
      EXPECT_EQ(device().MemoryUsed(), total);
      buffers.push_back(*std::move(buffer));
    }
    buffers.front() = std::move(buffers.back());
  }
  EXPECT_EQ(device().MemoryUsed(), 0);
  EXPECT_EQ(device().MemoryPeak(), 5'100'194);
}

TEST_P(DeviceSuite, TheLimitIsExactAndSurvivesRefusals) {
  const Buffer most = *device().Allocate(kSuiteMemoryBytes - 1000);
  const absl::Status refused = device().Allocate(1001).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("1001 bytes"));
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("1000 bytes"));
  EXPECT_EQ(device().MemoryUsed(), kSuiteMemoryBytes - 1000);
  for (const int64_t bytes : {kSuiteMemoryBytes + 1, INT64_MAX}) {
    EXPECT_EQ(device().Allocate(bytes).status().code(), absl::StatusCode::kResourceExhausted);
  }
}

TEST_P(DeviceSuite, CopiesGoThereAndBack) {
  for (const int64_t bytes : {0, 1, 31, 32, 33, 4097, 300'000, 3'000'005}) {
    const std::vector<uint8_t> values = Pattern(bytes, 7);
    const Buffer first = Upload(values);
    const Buffer second = *device().Allocate(bytes);
    DoneFuture copied;
    stream().Copy(first.span(), second.span(), copied.MakeDone());
    ASSERT_TRUE(copied.Wait().ok());
    DoneFuture same;
    stream().Copy(second.span(), second.span(), same.MakeDone());
    ASSERT_TRUE(same.Wait().ok());
    ASSERT_TRUE(Download<uint8_t>(second) == values) << bytes;
  }
}

TEST_P(DeviceSuite, CopiesTouchNothingAround) {
  const Buffer buffer = Upload(std::vector<uint8_t>(1000, 1));
  const std::vector<uint8_t> part(10, 2);
  DoneFuture copied;
  stream().CopyIn({reinterpret_cast<const std::byte*>(part.data()), 10}, buffer.span().Sub(500, 10),
                  copied.MakeDone());
  ASSERT_TRUE(copied.Wait().ok());
  std::vector<uint8_t> expected(1000, 1);
  std::fill(expected.begin() + 500, expected.begin() + 510, uint8_t{2});
  EXPECT_EQ(Download<uint8_t>(buffer), expected);
}

TEST_P(DeviceSuite, WorkOfOneStreamKeepsItsOrder) {
  // A chain of copies of very different lengths, each of which reads what the one before wrote.
  constexpr int64_t kBytes = 2'000'000;
  const std::vector<uint8_t> values = Pattern(kBytes, 3);
  const Buffer a = *device().Allocate(kBytes);
  const Buffer b = *device().Allocate(kBytes);
  std::vector<uint8_t> out(kBytes);
  std::vector<int> order;
  const auto done = [&](int i) { return [&order, i](const absl::Status&) { order.push_back(i); }; };
  stream().CopyIn({reinterpret_cast<const std::byte*>(values.data()), kBytes}, a.span(), done(0));
  for (int i = 0; i < 20; ++i) {
    const int64_t offset = i * 50'000;
    const int64_t bytes = i % 2 == 0 ? kBytes - offset : 10;
    stream().Copy(a.span().Sub(offset, bytes), b.span().Sub(offset, bytes), done(2 * i + 1));
    stream().Copy(b.span().Sub(offset, bytes), a.span().Sub(offset, bytes), done(2 * i + 2));
  }
  DoneFuture last;
  stream().CopyOut(a.span(), {reinterpret_cast<std::byte*>(out.data()), kBytes}, last.MakeDone());
  ASSERT_TRUE(last.Wait().ok());
  EXPECT_TRUE(out == values);
  ASSERT_EQ(order.size(), 41U);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i));
}

TEST_P(DeviceSuite, DonesMayQueueMoreWithoutRecursing) {
  const Buffer buffer = Upload(std::vector<uint8_t>(8));
  DoneFuture finished;
  int left = 20'000;
  std::function<void(absl::Status)> again = [&](const absl::Status&) {
    if (--left == 0) {
      finished.MakeDone()(absl::OkStatus());
    } else {
      stream().Copy(buffer.span().Sub(0, 4), buffer.span().Sub(4, 4), again);
    }
  };
  stream().Copy(buffer.span().Sub(0, 4), buffer.span().Sub(4, 4), again);
  EXPECT_TRUE(finished.Wait().ok());
}

TEST_P(DeviceSuite, NothingPassesAPause) {
  const Buffer buffer = Upload(std::vector<uint8_t>{1, 2});
  Resume resume;
  DoneFuture reached;
  DoneFuture copied;
  stream().Pause([&](Resume given) {
    resume = std::move(given);
    reached.MakeDone()(absl::OkStatus());
  });
  stream().Copy(buffer.span().Sub(0, 1), buffer.span().Sub(1, 1), copied.MakeDone());
  ASSERT_TRUE(reached.Wait().ok());
  EXPECT_FALSE(copied.IsReady());
  EXPECT_FALSE(stream().Idle());
  std::thread([&] { std::move(resume)(); }).join();
  ASSERT_TRUE(copied.Wait().ok());
  EXPECT_EQ(Download<uint8_t>(buffer), (std::vector<uint8_t>{1, 1}));
}

TEST_P(DeviceSuite, ManyPausesDoNotPileUp) {
  int reached = 0;
  for (int i = 0; i < 1000; ++i) {
    stream().Pause([&](Resume resume) {
      ++reached;
      std::move(resume)();
    });
  }
  DoneFuture last;
  stream().Copy({}, {}, last.MakeDone());
  ASSERT_TRUE(last.Wait().ok());
  EXPECT_EQ(reached, 1000);
}

TEST_P(DeviceSuite, StreamsDoNotWaitForEachOther) {
  const std::unique_ptr<Stream> other = *device().NewStream();
  Resume resume;
  DoneFuture reached;
  stream().Pause([&](Resume given) {
    resume = std::move(given);
    reached.MakeDone()(absl::OkStatus());
  });
  ASSERT_TRUE(reached.Wait().ok());
  const Buffer a = *device().Allocate(5'000'000);
  const Buffer b = *device().Allocate(5'000'000);
  DoneFuture copied;
  other->Copy(a.span(), b.span(), copied.MakeDone());
  EXPECT_TRUE(copied.Wait().ok());
  std::move(resume)();
}

TEST_P(DeviceSuite, AnyThreadMayQueue) {
  constexpr int kThreads = 4;
  constexpr int kCopies = 500;
  const Buffer buffer = *device().Allocate(kThreads * 2 * 4096);
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCopies; ++i) {
        stream().Copy(buffer.span().Sub(t * 8192, 4096), buffer.span().Sub(t * 8192 + 4096, 4096),
                      [&](const absl::Status& status) { done += status.ok() ? 1 : 0; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream_.reset();  // Waits for what is queued.
  EXPECT_EQ(done, kThreads * kCopies);
}

TEST_P(DeviceSuite, TheDestructorWaitsForWhatIsQueued) {
  const Buffer a = *device().Allocate(8'000'000);
  const Buffer b = *device().Allocate(8'000'000);
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    stream().Copy(a.span(), b.span(), [&](const absl::Status& status) { done += status.ok(); });
  }
  stream_.reset();
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace shoal::device
