#include "bench/tasks/peer_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

namespace shoal::bench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

nlohmann::json GoodFlood() {
  return {{"count", 50},         {"sent_s", 0.25},
          {"roundtrip_s", 0.5},  {"cpu_client_s", 0.125},
          {"cpu_server_s", 1.5}, {"peak_rss_bytes", 4096},
          {"wrong", 0}};
}

nlohmann::json GoodAbout() {
  return {{"name", "dask"},   {"version", "distributed 1.2"},  {"python", "3.11.2"}, {"workers", 2},
          {"way", "batched"}, {"tried", {{"batched", 3000.0}}}};
}

TEST(PeerLinesTest, AFloodHasTimesUseAndFaults) {
  nlohmann::json line = GoodFlood();
  line["wrong"] = 3;
  const auto flood = ParsePeerFlood(line.dump(), 50);
  ASSERT_TRUE(flood.ok()) << flood.status();
  EXPECT_EQ(flood->sent, milliseconds(250));
  EXPECT_EQ(flood->roundtrip, milliseconds(500));
  EXPECT_EQ(flood->wrong, 3);
  EXPECT_TRUE(flood->latencies.empty());
  ASSERT_TRUE(flood->usage.has_value());
  EXPECT_EQ(flood->usage->client_cpu, milliseconds(125));
  EXPECT_EQ(flood->usage->server_cpu, milliseconds(1500));
  EXPECT_EQ(flood->usage->peak_rss_bytes, 4096);
}

TEST(PeerLinesTest, AFloodThatLacksAnythingIsRefused) {
  const nlohmann::json good = GoodFlood();
  for (const auto& [key, value] : good.items()) {
    for (const nlohmann::json& other :
         {nlohmann::json(), nlohmann::json("1"), nlohmann::json(-1)}) {
      nlohmann::json line = GoodFlood();
      line[key] = other;
      EXPECT_EQ(ParsePeerFlood(line.dump(), 50).status().code(), absl::StatusCode::kAborted)
          << key << " " << other;
      line.erase(key);
      EXPECT_FALSE(ParsePeerFlood(line.dump(), 50).ok()) << key;
    }
  }
}

TEST(PeerLinesTest, WhatIsNoObjectIsRefusedAndQuoted) {
  for (const char* text : {"", "{", "[]", "7", "Traceback", "{\"count\": 50"}) {
    const absl::Status status = ParsePeerFlood(text, 50).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_FALSE(ParsePeerAbout(text).ok());
  }
}

TEST(PeerLinesTest, AFloodOfAnotherSizeOrWithoutTimeIsRefused) {
  EXPECT_FALSE(ParsePeerFlood(GoodFlood().dump(), 51).ok());
  nlohmann::json line = GoodFlood();
  line["sent_s"] = 0.6;  // After the last result.
  EXPECT_FALSE(ParsePeerFlood(line.dump(), 50).ok());
  line["sent_s"] = line["roundtrip_s"] = 0;
  EXPECT_FALSE(ParsePeerFlood(line.dump(), 50).ok());
}

TEST(PeerLinesTest, SaysWhatIsMeasuredAndWhichWayWasFaster) {
  nlohmann::json line = GoodAbout();
  line["tried"]["one_by_one"] = 1500;
  const auto about = ParsePeerAbout(line.dump());
  ASSERT_TRUE(about.ok()) << about.status();
  EXPECT_EQ(about->mode, "batched");
  EXPECT_EQ(about->Text(),
            "distributed 1.2, Python 3.11.2, 2 workers, batched (batched 3000/s, one_by_one 1500/s "
            "when both were tried)");
  line.erase("tried");
  EXPECT_EQ(ParsePeerAbout(line.dump())->Text(),
            "distributed 1.2, Python 3.11.2, 2 workers, batched");
}

TEST(PeerLinesTest, AnIntroductionThatLacksAnythingIsRefused) {
  for (const char* key : {"version", "python", "workers", "way"}) {
    nlohmann::json line = GoodAbout();
    line[key] = nullptr;
    EXPECT_FALSE(ParsePeerAbout(line.dump()).ok()) << key;
  }
  nlohmann::json line = GoodAbout();
  line["way"] = "alone";
  EXPECT_FALSE(ParsePeerAbout(line.dump()).ok());
  line = GoodAbout();
  line["tried"] = {{"batched", "fast"}};
  EXPECT_FALSE(ParsePeerAbout(line.dump()).ok());
  line["tried"] = 5;
  EXPECT_FALSE(ParsePeerAbout(line.dump()).ok());
}

}  // namespace
}  // namespace shoal::bench
