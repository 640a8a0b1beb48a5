#include "server/app/config.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/units.h"
#include "server/app/shoald_options.h"

namespace shoal::app {
namespace {

constexpr Machine kMachine{.cores = 6, .memory_bytes = 10 * kGiB};

absl::StatusOr<Config> Of(const std::vector<std::string>& arguments,
                          const Machine& machine = kMachine) {
  const auto options =
      ParseOptions(ShoaldOptions(), arguments, [](const std::string&) { return std::nullopt; });
  if (!options.ok()) return options.status();
  return MakeConfig(*options, machine);
}

absl::StatusCode CodeOf(const std::vector<std::string>& arguments) {
  return Of(arguments).status().code();
}

TEST(MakeConfigTest, DefaultsFollowTheMachine) {
  Config config = *Of({});
  EXPECT_EQ(config.host, "127.0.0.1");
  EXPECT_EQ(config.port, 50051);
  EXPECT_EQ(config.workers, 4);
  EXPECT_EQ(config.threads, 1);
  EXPECT_EQ(config.memory_limit_bytes, 8 * kGiB);
  EXPECT_TRUE(config.unix_socket);
  EXPECT_EQ(config.policy, "least_load");
  config = *Of({}, {.cores = 1, .memory_bytes = kGiB});
  EXPECT_EQ(config.workers, 1);
  EXPECT_EQ(config.threads, 1);
  config = *Of({"--workers", "2"});
  EXPECT_EQ(config.threads, 3);
  config = *Of({"--workers", "100"});
  EXPECT_EQ(config.threads, 1);
}

TEST(MakeConfigTest, LimitsReachTheService) {
  const Config config = *Of({"--inline-limit", "1KiB", "--chunk-size", "64KiB", "--credits", "3",
                             "--session-tasks", "9", "--queue-limit", "10", "--connection-limit",
                             "77", "--resume-timeout", "1500ms", "--drain-timeout", "2s"});
  EXPECT_EQ(config.limits.inline_bytes, kKiB);
  EXPECT_EQ(config.limits.chunk_bytes, 64 * kKiB);
  EXPECT_EQ(config.limits.credit_chunks, 3);
  EXPECT_EQ(config.limits.session_tasks, 9);
  EXPECT_EQ(config.limits.queued_tasks, 10);
  EXPECT_EQ(config.connections_max, 77);
  EXPECT_EQ(config.limits.resume_timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(config.drain_timeout, std::chrono::seconds(2));
  EXPECT_GT(config.limits.message_bytes(), config.limits.chunk_bytes);
}

TEST(MakeConfigTest, DescriptorsAreSharedOut) {
  for (const int64_t descriptors : {128, 1024, 20000, 1 << 20}) {
    const Config config = *Of({}, {.cores = 1, .memory_bytes = kGiB, .descriptors = descriptors});
    EXPECT_GE(config.connections_max, 64);
    EXPECT_LE(config.connections_max, 16384);
    EXPECT_LT(config.connections_max + config.lease_connections_max + config.leases_max,
              descriptors);
  }
  const Machine small{.cores = 1, .memory_bytes = kGiB, .descriptors = 1024};
  EXPECT_EQ(Of({"--connection-limit", "600"}, small)->connections_max, 600);
  const auto refused = Of({"--connection-limit", "1000"}, small);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MakeConfigTest, ThisMachineKnowsItsRaisedLimit) {
  RaiseDescriptorLimit();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 1 << 20));
  EXPECT_EQ(ThisMachine().descriptors, static_cast<int64_t>(limit.rlim_cur));
}

TEST(MakeConfigTest, RefusesNumbersBeyondTheirBounds) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--port", "65536"},
                                             {"--port", "-1"},
                                             {"--credits", "0"},
                                             {"--chunk-size", "4095"},
                                             {"--chunk-size", "17MiB"},
                                             {"--inline-limit", "4MiB"},
                                             {"--workers", "257"},
                                             {"--threads", "-1"},
                                             {"--queue-limit", "0"},
                                             {"--policy", "whatever"},
                                             {"--log-level", "loud"},
                                             {"--resume-timeout", "-1s"}}) {
    EXPECT_EQ(CodeOf(arguments), absl::StatusCode::kInvalidArgument) << arguments[0];
  }
}

TEST(MakeConfigTest, MemoryIsBytesOrAPartOfTheMachine) {
  EXPECT_EQ(Of({"--memory-limit", "1GiB"})->memory_limit_bytes, kGiB);
  EXPECT_EQ(Of({"--memory-limit", "50%"})->memory_limit_bytes, 5 * kGiB);
  EXPECT_EQ(Of({"--memory-limit", "12.5%"})->memory_limit_bytes, 5 * kGiB / 4);
  EXPECT_EQ(Of({"--memory-limit", "100%"})->memory_limit_bytes, 10 * kGiB);
  EXPECT_EQ(Of({"--memory-limit", "64MiB"})->memory_limit_bytes, 64 * kMiB);
  for (const char* text : {"0%", "-1%", "100.1%", "%", "x%", "nan%", "inf%", "63MiB", "0.1%", "-1",
                           "many", "17TiB", ""}) {
    const absl::Status status = Of({std::string("--memory-limit=") + text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StartsWith(status.message(), "--memory-limit: ")) << status;
  }
}

TEST(MakeConfigTest, OnlyLoopbackWithoutInsecure) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"}) {
    EXPECT_TRUE(Of({"--host", host}).ok()) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "[::]", "10.0.0.1", "127.example.com", "127.",
                           "localhost.example.com", "127.0.0.1.example.com", "::ffff:1.2.3.4"}) {
    EXPECT_EQ(CodeOf({"--host", host}), absl::StatusCode::kInvalidArgument) << host;
    EXPECT_TRUE(Of({"--host", host, "--insecure"}).ok()) << host;
  }
}

TEST(MakeConfigTest, Ipv6HostsMayHaveBracketsAndGetThemInAddresses) {
  EXPECT_EQ(Of({"--host", "[::1]"})->host, "::1");
  EXPECT_EQ(HostAndPort("::1", 80), "[::1]:80");
  EXPECT_EQ(HostAndPort("127.0.0.1", 80), "127.0.0.1:80");
  EXPECT_EQ(HostAndPort("localhost", 0), "localhost:0");
}

TEST(MakeConfigTest, ABackendThatIsNotBuiltIsAPreconditionThatFailed) {
  EXPECT_TRUE(Of({"--backend", "cpu"}).ok());
  EXPECT_EQ(CodeOf({"--backend", "cuda"}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CodeOf({"--backend", "other"}), absl::StatusCode::kInvalidArgument);
}

TEST(MakeConfigTest, LogsAsAsked) {
  const Config config = *Of({"--log-level", "warning", "--log-format", "json"});
  EXPECT_EQ(config.log.level, telemetry::LogLevel::kWarning);
  EXPECT_EQ(config.log.format, telemetry::LogFormat::kJson);
  EXPECT_EQ(Of({"--log-level", "debug"})->log.level, telemetry::LogLevel::kDebug);
  EXPECT_EQ(Of({"--log-level", "error"})->log.level, telemetry::LogLevel::kError);
  EXPECT_EQ(Of({})->log.level, telemetry::LogLevel::kInfo);
}

TEST(ThisMachineTest, HasCoresAndMemory) {
  EXPECT_GE(ThisMachine().cores, 1);
  EXPECT_GT(ThisMachine().memory_bytes, 64 * kMiB);
}

}  // namespace
}  // namespace shoal::app
