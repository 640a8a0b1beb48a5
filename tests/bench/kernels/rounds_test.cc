#include "bench/kernels/rounds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal::bench {
namespace {

/// Takes as long as it was told to, burst by burst; writes down who had its turn.
class FakeContender final : public Contender {
 public:
  FakeContender(std::string name, std::vector<double> seconds, std::vector<std::string>* turns)
      : name_(std::move(name)), seconds_(std::move(seconds)), turns_(turns) {}

  const std::string& Name() const override { return name_; }

  absl::StatusOr<double> Burst(int64_t calls) override {
    turns_->push_back(name_);
    calls_.push_back(calls);
    if (next_ == seconds_.size()) return absl::AbortedError("no more");
    return seconds_[next_++];
  }

  const std::vector<int64_t>& calls() const { return calls_; }

 private:
  const std::string name_;
  const std::vector<double> seconds_;
  std::vector<std::string>* const turns_;
  std::vector<int64_t> calls_;
  size_t next_ = 0;
};

TEST(CallsForTest, FillsABurstWithinItsBounds) {
  const RoundOptions options{.repeat = 5, .burst_s = 0.003, .calls_max = 1000};
  EXPECT_EQ(CallsFor(0.001, options), 3);
  EXPECT_EQ(CallsFor(10, options), 1);
  EXPECT_EQ(CallsFor(1e-9, options), 1000);
  EXPECT_EQ(CallsFor(0, options), 1000);
}

TEST(MeasureRoundsTest, TheOrderTurnsAndTheFirstCallsDoNotCount) {
  std::vector<std::string> turns;
  FakeContender a("a", {9, 0.001, 1, 2}, &turns);
  FakeContender b("b", {9, 0.5, 3, 4}, &turns);
  Contender* const both[] = {&a, &b};
  const auto times = MeasureRounds(both, {.repeat = 2});
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(turns, (std::vector<std::string>{"a", "a", "b", "b", "a", "b", "b", "a"}));
  EXPECT_EQ((*times)[0].seconds, (std::vector<double>{1, 2}));
  EXPECT_EQ((*times)[1].seconds, (std::vector<double>{3, 4}));
  EXPECT_EQ(a.calls(), (std::vector<int64_t>{1, 1, 3, 3}));
  EXPECT_EQ(b.calls(), (std::vector<int64_t>{1, 1, 1, 1}));
}

TEST(MeasureRoundsTest, NamesWhoFailed) {
  std::vector<std::string> turns;
  FakeContender a("a", {1, 1, 1}, &turns);
  FakeContender b("slow one", {1, 1}, &turns);
  Contender* const both[] = {&a, &b};
  const auto times = MeasureRounds(both, {.repeat = 1});
  EXPECT_EQ(times.status(), absl::AbortedError("slow one: no more"));
}

TEST(RatiosTest, AreMediansOfTheRoundsRatios) {
  // A disturbance that slowed the second round of both changes nothing.
  const RoundTimes own{"own", {1, 10, 1}};
  const RoundTimes other{"other", {2, 20, 4}};
  const RoundTimes limit{"limit", {0.5, 8, 0.9}};
  EXPECT_EQ(SpeedRatio(own, other), 2);
  const RoundTimes* const limits[] = {&other, &limit};
  EXPECT_EQ(ShareOfLimit(own, limits), 0.8);
  EXPECT_EQ(ShareOfLimit(own, {}), 0);
}

}  // namespace
}  // namespace shoal::bench
