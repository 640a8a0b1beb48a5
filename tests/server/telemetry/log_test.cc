#include "server/telemetry/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace shoal::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file that a logger writes to, and its lines.
class LogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(fd_, 0); }
  void TearDown() override {
    close(fd_);
    unlink(path_.c_str());
  }

  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const std::string path_ = ::testing::TempDir() + "/log_test_" + std::to_string(getpid());
  const int fd_ = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
};

TEST_F(LogTest, OnlyTheLevelAndAboveIsWritten) {
  Logger log({.fd = fd_, .level = LogLevel::kWarning});
  log.Debug("d");
  log.Info("i", {{"k", 1}});
  log.Warning("w", {{"k", 2}});
  log.Error("e");
  log.set_level(LogLevel::kDebug);
  log.Debug("d2");
  EXPECT_TRUE(log.Enabled(LogLevel::kDebug));
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr(" warning w k=2"), HasSubstr(" error e"),
                                   HasSubstr(" debug d2")));
}

TEST_F(LogTest, ThreadsNeverMixTheirLines) {
  Logger log({.fd = fd_, .format = LogFormat::kJson});
  const std::string filler(6000, 'x');  // Above PIPE_BUF, were it a pipe.
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&log, &filler, t] {
      for (int i = 0; i < 200; ++i) log.Info("m", {{"id", t * 1000 + i}, {"filler", filler}});
    });
  }
  threads.clear();
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(lines.size(), 800u);
  std::set<std::string> ids;
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with("{\"time\":") && line.ends_with("xxx...\"}"));
    ids.insert(line.substr(line.find("\"id\":"), 10));
  }
  EXPECT_EQ(ids.size(), 800u);
}

TEST_F(LogTest, AFloodIsLimitedAndOwnsUpToWhatItSwallowed) {
  Logger log({.fd = fd_});
  LogLimiter limiter(1e-3, 2);  // The next one after 1000 s.
  for (int i = 0; i < 10; ++i) log.LogLimited(limiter, LogLevel::kWarning, "bad", {{"i", i}});
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("bad i=0"), HasSubstr("bad i=1")));
  EXPECT_EQ(limiter.TakeSwallowed(), 8);

  log.LogLimited(limiter, LogLevel::kDebug, "not enabled, so not counted");
  EXPECT_EQ(limiter.TakeSwallowed(), 0);
}

TEST_F(LogTest, TheLineAfterAFloodTellsTheCount) {
  Logger log({.fd = fd_});
  const Instant now(std::chrono::steady_clock::now().time_since_epoch());
  LogLimiter limiter(1000, 1);
  // Use up the bucket an hour ago, and have five refused there.
  const Instant past = now - std::chrono::hours(1);
  EXPECT_TRUE(limiter.Admit(past).has_value());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limiter.Admit(past).has_value());
  log.LogLimited(limiter, LogLevel::kError, "bad");
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("error bad swallowed_count=5")));
}

TEST(LogLossTest, LinesThatCannotBeWrittenAreCounted) {
  const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  Logger log({.fd = fd});
  log.Error("lost");
  log.Error("lost");
  EXPECT_EQ(log.lost_count(), 2);
  close(fd);
}

}  // namespace
}  // namespace shoal::telemetry
