#include "bench/tasks/peer_flooder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace shoal::bench {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kReady[] =
    R"(echo 'ready {"version": "fake 1", "python": "3", "workers": 2, "way": "batched"}')";

// A shell script in the place of Python: it "has" every package, and runs `body` for a peer's
// program. What the program is told to put its files into is $FOLDER.
class PeerFlooderTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Flooder>> Start(const std::string& body) {
    const std::string python = Path("python");
    std::ofstream(python) << "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\n"
                          << "for FOLDER; do :; done\n"
                          << body << "\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    options_.python = python;
    return NewPeerFlooder(options_);
  }

  std::string Path(const std::string& name) const {
    return testing::TempDir() + "/peer_flooder_" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
  }

  std::string Contents(const std::string& name) const {
    std::string text;
    std::getline(std::ifstream(Path(name)), text);
    return text;
  }

  PeerOptions options_ = {
      .name = "dask", .python = "", .script = "unused", .count_max = 50, .timeout = seconds(20)};
};

TEST_F(PeerFlooderTest, FloodsAsOftenAsItIsAsked) {
  auto flooder = Start(std::string(kReady) + R"(
    while read count; do
      echo noise
      echo "flood {\"count\": $count, \"sent_s\": 1, \"roundtrip_s\": 2, \"wrong\": 0," \
        "\"cpu_client_s\": 0, \"cpu_server_s\": 0, \"peak_rss_bytes\": 0}"
    done)");
  ASSERT_TRUE(flooder.ok()) << flooder.status();
  EXPECT_EQ((*flooder)->Name(), "dask");
  EXPECT_EQ((*flooder)->Mode(), "batched");
  EXPECT_EQ((*flooder)->CountMax(), 50);
  EXPECT_THAT((*flooder)->About(), HasSubstr("fake 1"));
  for (const int64_t count : {50, 7}) {
    const auto flood = (*flooder)->Flood(count);
    ASSERT_TRUE(flood.ok()) << flood.status();
    EXPECT_EQ(flood->roundtrip, seconds(2));
  }
}

TEST_F(PeerFlooderTest, WithoutThePackageItSaysHowToGetIt) {
  options_.python = "false";  // Ends with 1 whatever it is asked.
  const absl::Status lacking = NewPeerFlooder(options_).status();
  EXPECT_EQ(lacking.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(lacking.message()), HasSubstr("scripts/bench-peers"));
  EXPECT_THAT(std::string(lacking.message()), HasSubstr("distributed"));
  options_.python = "no-such-python-anywhere";
  EXPECT_EQ(NewPeerFlooder(options_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PeerFlooderTest, AProgramThatEndsIsAnError) {
  EXPECT_EQ(Start("exit 3").status().code(), absl::StatusCode::kUnavailable);
  auto flooder = Start(std::string(kReady) + "; read count; exit 3");
  ASSERT_TRUE(flooder.ok()) << flooder.status();
  // The second finds nobody who reads: an error, and no signal that ends this process.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*flooder)->Flood(5).status().code(), absl::StatusCode::kUnavailable);
  }
}

TEST_F(PeerFlooderTest, ABadLineIsAnError) {
  EXPECT_EQ(Start("echo 'ready {}'; cat").status().code(), absl::StatusCode::kAborted);
  auto flooder = Start(std::string(kReady) + "; read count; echo 'flood nonsense'; cat");
  ASSERT_TRUE(flooder.ok()) << flooder.status();
  EXPECT_EQ((*flooder)->Flood(5).status().code(), absl::StatusCode::kAborted);
}

TEST_F(PeerFlooderTest, WhatHangsIsEndedInTime) {
  options_.timeout = seconds(3);
  auto flooder = Start("echo $$ > " + Path("pid") + "; " + kReady + "; read count; exec cat");
  ASSERT_TRUE(flooder.ok()) << flooder.status();
  const absl::Status hung = (*flooder)->Flood(5).status();
  EXPECT_EQ(hung.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(hung.message()), HasSubstr("ended"));
  EXPECT_NE(kill(std::stoi(Contents("pid")), 0), 0) << "still there before its owner goes";
}

TEST_F(PeerFlooderTest, WhatItWroteGoesWithIt) {
  auto flooder =
      Start("echo \"$FOLDER\" > " + Path("folder") +
            "; mkdir -p \"$FOLDER/a/b\"; echo x > \"$FOLDER/a/b/c\"; " + kReady + "; cat");
  ASSERT_TRUE(flooder.ok()) << flooder.status();
  const std::string folder = Contents("folder");
  ASSERT_TRUE(std::filesystem::exists(folder + "/a/b/c"));
  flooder->reset();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace shoal::bench
