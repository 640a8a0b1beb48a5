#include "transport/cancellation.h"

#include <gtest/gtest.h>

namespace shoal::transport {
namespace {

struct Counted final : Cancellable {
  void Cancel() override { ++count; }
  int count = 0;
};

TEST(CancellationTest, ReachesWhatIsRegisteredAndOnlyThat) {
  Cancellation cancellation;
  Counted gone;
  Counted there;
  Counted late;
  { const Cancellation::Registration registration(&cancellation, &gone); }
  const Cancellation::Registration registration(&cancellation, &there);
  EXPECT_FALSE(cancellation.cancelled());
  cancellation.Cancel();
  EXPECT_TRUE(cancellation.cancelled());
  const Cancellation::Registration after(&cancellation, &late);
  EXPECT_EQ(gone.count, 0);
  EXPECT_EQ(there.count, 1);
  EXPECT_EQ(late.count, 1);
}

TEST(CancellationTest, WithoutOneNothingCancels) {
  Counted alone;
  const Cancellation::Registration registration(nullptr, &alone);
  EXPECT_EQ(alone.count, 0);
}

}  // namespace
}  // namespace shoal::transport
