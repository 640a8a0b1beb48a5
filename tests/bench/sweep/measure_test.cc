#include "bench/sweep/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/bench/sweep/fake_subject.h"

namespace shoal::bench {
namespace {

using testing::HasSubstr;

TEST(BurstCallsTest, KeepsAWorkingSetOfAFewMebibytes) {
  EXPECT_EQ(BurstCalls(0), 512);
  EXPECT_EQ(BurstCalls(8), 512);
  EXPECT_EQ(BurstCalls(64 << 10), 64);
  EXPECT_EQ(BurstCalls(4 << 20), 1);
  EXPECT_EQ(BurstCalls(int64_t{1} << 40), 1);
  EXPECT_EQ(FloodCalls(1 << 20), 64);
  EXPECT_EQ(FloodCalls(int64_t{1} << 40), 1);
}

class MeasureTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<Measurement>> Measure(const std::vector<FakeSubject*>& subjects) {
    Crews crews;
    for (FakeSubject* subject : subjects) {
      owned_.push_back(*Crew::Create(subject, 1));
      crews.timed.push_back(owned_.back().get());
      owned_.push_back(*Crew::Create(subject, 1));
      crews.floods.push_back(owned_.back().get());
    }
    workload_.emplace(*Workload::Create({.op = Op::kEcho, .bytes = 1000}));
    return MeasureTogether(crews, *workload_, {.warmup = 1, .repeat = 4, .calls = 8, .flood = 16});
  }

 private:
  std::optional<Workload> workload_;
  std::vector<std::unique_ptr<Crew>> owned_;
};

TEST_F(MeasureTest, ReportsSubjectsInTheOrderGivenWithRatiosToEachOther) {
  FakeSubject first("first", {});
  FakeSubject second("second", {});
  const auto results = Measure({&first, &second});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2U);
  EXPECT_EQ((*results)[0].subject, "first");
  EXPECT_EQ((*results)[1].subject, "second");
  EXPECT_GT((*results)[0].ops_per_s, 0);
  EXPECT_GT((*results)[0].ratio.at("second"), 0);
  EXPECT_FALSE((*results)[0].ratio.contains("first"));
  EXPECT_FALSE((*results)[0].server_cpu_s_per_gb.has_value()) << "no process serves it";
}

TEST_F(MeasureTest, FloodsOnlyWhatCanOverlap) {
  FakeSubject alone("alone", {});
  FakeSubject overlaps("overlaps", {});
  overlaps.overlaps = true;
  const auto results = Measure({&alone, &overlaps});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_FALSE((*results)[0].sent_s.has_value());
  ASSERT_TRUE((*results)[1].sent_s.has_value());
  EXPECT_LE(*(*results)[1].sent_s, *(*results)[1].roundtrip_s);
  EXPECT_EQ((*results)[1].flood_count, 16);
  EXPECT_EQ(overlaps.in_flight_max.load(), 16) << "all requests of a flood are in flight at once";
}

TEST_F(MeasureTest, CountsWrongBytesOfWarmupBurstsAndFloods) {
  FakeSubject flips("flips", {.flip_reply = true});
  flips.overlaps = true;
  const auto results = Measure({&flips});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].wrong, (1 + 4) * 8 + 3 * 16);
}

TEST_F(MeasureTest, LeavesOutWhatDoesNotCarryTheSize) {
  FakeSubject small("small", {});
  small.carries_bytes_max = 999;
  FakeSubject large("large", {});
  const auto results = Measure({&small, &large});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 1U);
  EXPECT_EQ((*results)[0].subject, "large");
}

TEST_F(MeasureTest, NamesTheSubjectThatFailed) {
  FakeSubject good("good", {});
  FakeSubject fails("culprit", {.fail_after = 20});
  const auto results = Measure({&good, &fails});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("culprit"));
}

}  // namespace
}  // namespace shoal::bench
