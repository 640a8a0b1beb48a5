#include "bench/process/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "bench/process/usage.h"

namespace shoal::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(ChildTest, ReturnsWhatFollowsThePrefix) {
  const auto child = Child::Start({"sh", "-c", "echo noise; echo 'ready at 12'; cat"});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(*(*child)->AwaitLine("ready at ", seconds(20)), "12");
}

TEST(ChildTest, SaysThatTheOutputEndedWithoutTheLine) {
  const auto child = *Child::Start({"sh", "-c", "echo noise"});
  EXPECT_EQ(child->AwaitLine("ready", seconds(20)).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ChildTest, DoesNotWaitForEver) {
  const auto child = *Child::Start({"cat"});
  EXPECT_EQ(child->AwaitLine("ready", milliseconds(1)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(child->AwaitEnd(milliseconds(1)).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildTest, ReadsTheLinesThatItIsSent) {
  const auto child = *Child::Start({"sed", "-u", "s/^/got /"});
  for (const char* line : {"one", "two"}) {
    ASSERT_TRUE(child->SendLine(line).ok());
    EXPECT_EQ(*child->AwaitLine("got ", seconds(20)), line);
  }
}

TEST(ChildTest, ALineForAProgramThatEndedIsAnErrorAndNoSignal) {
  const auto child = *Child::Start({"true"});
  ASSERT_TRUE(child->AwaitEnd(seconds(20)).ok());
  EXPECT_EQ(child->SendLine("one").code(), absl::StatusCode::kUnavailable);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  ASSERT_TRUE(child->Stop(seconds(1)).ok());
  EXPECT_EQ(child->SendLine("one").code(), absl::StatusCode::kUnavailable);  // Not even a pipe.
}

TEST(ChildTest, GivesBackAllOutputOfAProgramThatEnded) {
  const auto child = *Child::Start({"sh", "-c", "seq 3; printf tail"});
  EXPECT_EQ(*child->AwaitEnd(seconds(20)), "1\n2\n3\ntail\n");
}

TEST(ChildTest, AnotherStatusThanZeroIsAnError) {
  const auto failed = *Child::Start({"sh", "-c", "exit 3"});
  const auto end = failed->AwaitEnd(seconds(20));
  EXPECT_EQ(end.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(end.status().message()), HasSubstr("3"));
  const auto missing = *Child::Start({"no-such-program-anywhere"});
  EXPECT_THAT(std::string(missing->AwaitEnd(seconds(20)).status().message()),
              HasSubstr("could not be started"));
}

TEST(ChildTest, StopsWithASignalItMayHandle) {
  const auto plain = *Child::Start({"cat"});
  EXPECT_TRUE(plain->Stop(seconds(20)).ok());
  const auto polite =
      *Child::Start({"sh", "-c", "trap 'exit 0' TERM; echo up; while :; do read line || :; done"});
  ASSERT_TRUE(polite->AwaitLine("up", seconds(20)).ok());
  EXPECT_TRUE(polite->Stop(seconds(20)).ok());
}

TEST(ChildTest, KillsWhatDoesNotStop) {
  const auto deaf = *Child::Start({"sh", "-c", "trap '' TERM; echo up; while :; do :; done"});
  ASSERT_TRUE(deaf->AwaitLine("up", seconds(20)).ok());
  EXPECT_EQ(deaf->Stop(milliseconds(10)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildTest, EndsWithItsOwner) {
  pid_t pid = 0;
  {
    const auto child = *Child::Start({"cat"});
    pid = child->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(UsageTest, SeesTheWorkAndTheMemoryOfAnotherProcess) {
  const auto child = *Child::Start(
      {"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; cat"});
  ASSERT_TRUE(child->AwaitLine("done", seconds(60)).ok());
  EXPECT_GT(ProcessCpu(child->pid()), Duration::zero());
  EXPECT_GT(PeakResidentBytes(child->pid()), 0);
  // The kernel counts pages in batches of up to 64 a thread, and keeps the peak of the batches.
  constexpr int64_t kBatch = 64 * 4096;
  EXPECT_LE(ResidentBytes(child->pid()), PeakResidentBytes(child->pid()) + kBatch);
}

TEST(UsageTest, CountsOurOwnWork) {
  const Duration before = OwnCpu();
  volatile int sink = 0;
  for (int i = 0; i < 1'000'000; ++i) sink = i;
  EXPECT_GT(OwnCpu(), before) << sink;
}

TEST(UsageTest, PeakBeginsAnewAfterAReset) {
  constexpr size_t kBytes = 64 << 20;
  // From the kernel and back to it: an allocator may keep what was freed.
  void* large = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(large, MAP_FAILED);
  std::memset(large, 1, kBytes);
  ASSERT_GT(PeakResidentBytes(getpid()), int64_t{kBytes});
  munmap(large, kBytes);
  const int64_t before = PeakResidentBytes(getpid());
  ResetPeakResident(getpid());
  EXPECT_LT(PeakResidentBytes(getpid()), before);
}

TEST(UsageTest, AProcessThatIsGoneUsesNothing) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  EXPECT_EQ(ProcessCpu(gone), Duration::zero());
  EXPECT_EQ(PeakResidentBytes(gone), 0);
}

}  // namespace
}  // namespace shoal::bench
