#include "server/telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <sstream>
#include <string>

namespace shoal::telemetry {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;

// Reads the text format back: "name{labels}" to value, and "name" to its type.
struct Parsed {
  std::map<std::string, double> values;
  std::map<std::string, std::string> types;
};

Parsed Parse(const std::string& text) {
  Parsed parsed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      const size_t blank = line.find(' ', 7);
      parsed.types[line.substr(7, blank - 7)] = line.substr(blank + 1);
    } else if (!line.starts_with("#")) {
      const size_t blank = line.rfind(' ');
      EXPECT_TRUE(
          parsed.values.emplace(line.substr(0, blank), std::stod(line.substr(blank))).second)
          << "twice: " << line;
    }
  }
  return parsed;
}

class MetricsTest : public ::testing::Test {
 protected:
  ThroughputTable table_{{"echo", "sum"}};
  ServiceMetrics metrics_{{.throughput = &table_,
                           .gauges =
                               [] {
                                 return ServiceGauges{
                                     .queue_depth = 4,
                                     .in_flight = 5,
                                     .arrays = 2,
                                     .array_bytes = 1 << 20,
                                     .sessions = 1,
                                     .leases = 3,
                                     .draining = true,
                                     .workers = {{0, true, 100, 1000}, {1, false, 0, 1000}}};
                               },
                           .version = "0.1.0"}};
};

TEST_F(MetricsTest, CallsAreSummedOverSizes) {
  const CallKey key = {.op = 0, .route = Route::kFront, .plane = Plane::kInline};
  table_.Record(key, {.bytes_in = 10, .bytes_out = 10, .latency = microseconds(1)});
  table_.Record(key, {.bytes_in = 5000,
                      .latency = microseconds(5),
                      .phases = {.compute = microseconds(2)},
                      .failed = true});
  table_.Record({.op = 0, .route = Route::kWorker, .plane = Plane::kLease},
                {.bytes_in = 1, .latency = std::chrono::hours(1)});
  const Parsed parsed = Parse(metrics_.Text());
  const auto value = [&](const std::string& series) {
    EXPECT_TRUE(parsed.values.contains(series)) << series;
    const auto found = parsed.values.find(series);
    return found == parsed.values.end() ? -1.0 : found->second;
  };
  EXPECT_EQ(value(R"(shoal_calls_total{op="echo",outcome="ok"})"), 2);
  EXPECT_EQ(value(R"(shoal_calls_total{op="echo",outcome="error"})"), 1);
  EXPECT_EQ(value(R"(shoal_call_bytes_total{op="echo",direction="in"})"), 5011);
  EXPECT_EQ(value(R"(shoal_call_bytes_total{op="echo",direction="out"})"), 10);
  EXPECT_DOUBLE_EQ(value(R"(shoal_phase_seconds_total{op="echo",phase="compute"})"), 2e-6);
  const std::string front = R"(op="echo",route="front",plane="inline")";
  EXPECT_EQ(value("shoal_call_seconds_count{" + front + "}"), 2);
  EXPECT_DOUBLE_EQ(value("shoal_call_seconds_sum{" + front + "}"), 6e-6);
  EXPECT_EQ(value("shoal_call_seconds_bucket{" + front + R"(,le="1.024e-06"})"), 1);
  EXPECT_EQ(value("shoal_call_seconds_bucket{" + front + R"(,le="4.096e-06"})"), 1);
  EXPECT_EQ(value("shoal_call_seconds_bucket{" + front + R"(,le="1.6384e-05"})"), 2);
  EXPECT_EQ(value("shoal_call_seconds_bucket{" + front + R"(,le="+Inf"})"), 2);
  const std::string lease = R"(op="echo",route="worker",plane="lease")";
  EXPECT_EQ(value("shoal_call_seconds_bucket{" + lease + R"(,le="+Inf"})"), 1);
  EXPECT_EQ(value("shoal_call_seconds_count{" + lease + "}"), 1);
  EXPECT_EQ(parsed.types.at("shoal_call_seconds"), "histogram");
  EXPECT_EQ(parsed.types.at("shoal_calls_total"), "counter");
  EXPECT_FALSE(parsed.values.contains(R"(shoal_calls_total{op="sum",outcome="ok"})"));
}

TEST_F(MetricsTest, BucketsNeverDecrease) {
  for (int64_t ns = 1; ns < int64_t{1} << 40; ns *= 3) table_.Record({}, {.latency = Duration(ns)});
  for (const prometheus::MetricFamily& family : metrics_.Collect()) {
    if (family.name != "shoal_call_seconds") continue;
    ASSERT_EQ(family.metric.size(), 1u);
    uint64_t last_count = 0;
    double last_bound = 0;
    for (const auto& bucket : family.metric[0].histogram.bucket) {
      EXPECT_GE(bucket.cumulative_count, last_count);
      EXPECT_GT(bucket.upper_bound, last_bound);
      last_count = bucket.cumulative_count;
      last_bound = bucket.upper_bound;
    }
    EXPECT_EQ(last_count, family.metric[0].histogram.sample_count);
  }
}

TEST_F(MetricsTest, GaugesOfAnIdleServiceReadWordForWord) {
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("# HELP shoal_queue_depth Tasks that wait for a worker.\n"
                        "# TYPE shoal_queue_depth gauge\n"
                        "shoal_queue_depth 4\n"
                        "# HELP shoal_calls_in_flight Calls that have begun and not ended.\n"
                        "# TYPE shoal_calls_in_flight gauge\n"
                        "shoal_calls_in_flight 5\n"));
  const Parsed parsed = Parse(metrics_.Text());
  EXPECT_EQ(parsed.values.at("shoal_arrays"), 2);
  EXPECT_EQ(parsed.values.at("shoal_array_bytes"), 1 << 20);
  EXPECT_EQ(parsed.values.at("shoal_sessions"), 1);
  EXPECT_EQ(parsed.values.at("shoal_leases"), 3);
  EXPECT_EQ(parsed.values.at("shoal_draining"), 1);
  EXPECT_EQ(parsed.values.at(R"(shoal_worker_up{worker="0"})"), 1);
  EXPECT_EQ(parsed.values.at(R"(shoal_worker_up{worker="1"})"), 0);
  EXPECT_EQ(parsed.values.at(R"(shoal_worker_memory_bytes{worker="0",kind="used"})"), 100);
  EXPECT_EQ(parsed.values.at(R"(shoal_worker_memory_bytes{worker="0",kind="limit"})"), 1000);
  EXPECT_EQ(parsed.values.at(R"(shoal_info{version="0.1.0"})"), 1);
}

TEST_F(MetricsTest, NamesKeepTheRules) {
  table_.Record({}, {});
  for (const prometheus::MetricFamily& family : metrics_.Collect()) {
    EXPECT_TRUE(family.name.starts_with("shoal_")) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.type == prometheus::MetricType::Counter)
        << family.name;
    EXPECT_FALSE(family.help.empty());
  }
}

}  // namespace
}  // namespace shoal::telemetry
