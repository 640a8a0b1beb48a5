#include "server/collective/local/meeting.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"

namespace shoal::collective {
namespace {

/// A stream that is paused when the test says so, or at once where it is idle.
class FakeStream final : public device::Stream {
 public:
  void CopyIn(device::ConstSpan, device::Span, device::Done) override { Unused(); }
  void CopyOut(device::ConstSpan, device::Span, device::Done) override { Unused(); }
  void Copy(device::ConstSpan, device::Span, device::Done) override { Unused(); }
  void Launch(device::Work, device::CancelFlag, device::Done) override { Unused(); }
  void Pause(absl::AnyInvocable<void(device::Resume) &&> reached) override {
    reached_ = std::move(reached);
    if (is_idle) Reach();
  }
  bool Idle() const override { return is_idle; }

  void Reach() {
    std::move(reached_)([this] { ++resumed; });
  }

  bool is_idle = false;
  int resumed = 0;

 private:
  static void Unused() { SHOAL_UNREACHABLE("a meeting only pauses"); }
  absl::AnyInvocable<void(device::Resume) &&> reached_;
};

TEST(MeetingTest, TheWorkRunsOnceAllStreamsHaveCome) {
  FakeStream streams[3];
  std::mutex order;
  bool worked = false;
  const auto meeting = std::make_shared<Meeting>();
  meeting->Begin(order, {&streams[0], &streams[1], &streams[2]}, [&] { worked = true; });
  streams[1].Reach();
  streams[0].Reach();
  EXPECT_FALSE(worked);
  streams[2].Reach();
  EXPECT_TRUE(worked);
  EXPECT_EQ(streams[0].resumed + streams[1].resumed + streams[2].resumed, 0);
  EXPECT_FALSE(meeting->Cancel()) << "too late";
  meeting->End();
  for (const FakeStream& stream : streams) EXPECT_EQ(stream.resumed, 1);
}

TEST(MeetingTest, StreamsThatComeAtOnceRunTheWorkOutsideTheOrder) {
  FakeStream streams[2];
  for (FakeStream& stream : streams) stream.is_idle = true;
  std::mutex order;
  bool was_free = false;
  const auto meeting = std::make_shared<Meeting>();
  meeting->Begin(order, {&streams[0], &streams[1]}, [&] {
    was_free = order.try_lock();
    if (was_free) order.unlock();
    meeting->End();
  });
  EXPECT_TRUE(was_free);
  for (const FakeStream& stream : streams) EXPECT_EQ(stream.resumed, 1);
}

TEST(MeetingTest, CancellingLetsThoseGoThatCameAndThoseThatComeLater) {
  FakeStream streams[2];
  std::mutex order;
  bool worked = false;
  const auto meeting = std::make_shared<Meeting>();
  meeting->Begin(order, {&streams[0], &streams[1]}, [&] { worked = true; });
  streams[0].Reach();
  EXPECT_TRUE(meeting->Cancel());
  EXPECT_FALSE(meeting->Cancel());
  EXPECT_EQ(streams[0].resumed, 1);
  streams[1].Reach();
  EXPECT_EQ(streams[1].resumed, 1);
  EXPECT_FALSE(worked);
}

TEST(MeetingTest, CancelledBeforeItBeginsItOnlyLetsTheStreamsPass) {
  FakeStream streams[2];
  streams[0].is_idle = true;
  std::mutex order;
  bool worked = false;
  const auto meeting = std::make_shared<Meeting>();
  EXPECT_TRUE(meeting->Cancel());
  meeting->Begin(order, {&streams[0], &streams[1]}, [&] { worked = true; });
  EXPECT_EQ(streams[0].resumed, 1);
  streams[1].Reach();
  EXPECT_EQ(streams[1].resumed, 1);
  EXPECT_FALSE(worked);
}

}  // namespace
}  // namespace shoal::collective
