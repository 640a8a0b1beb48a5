#include "kernels/broadcast.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace shoal::kernels {
namespace {

Shape Of(const std::vector<int64_t>& extents) { return *Shape::Create(extents); }

TEST(BroadcastTest, ExtentsAreEqualOrOne) {
  EXPECT_EQ(*Broadcast(Of({}), Of({})), Of({}));
  EXPECT_EQ(*Broadcast(Of({3, 4}), Of({4})), Of({3, 4}));
  EXPECT_EQ(*Broadcast(Of({3, 1}), Of({4})), Of({3, 4}));
  EXPECT_EQ(*Broadcast(Of({5}), Of({1, 1})), Of({1, 5}));
  EXPECT_EQ(*Broadcast(Of({0}), Of({1})), Of({0}));
  EXPECT_FALSE(Broadcast(Of({3}), Of({4})).has_value());
  EXPECT_FALSE(Broadcast(Of({0}), Of({2})).has_value());
  EXPECT_FALSE(Broadcast(Of({int64_t{1} << 40, 1}), Of({int64_t{1} << 40})).has_value());
}

/// Which element of `input` goes with element `index` of `output`, axis by axis.
int64_t Source(const Shape& input, const Shape& output, int64_t index) {
  int64_t source = 0;
  int64_t stride = 1;
  const size_t skipped = output.extents().size() - input.extents().size();
  for (size_t i = output.extents().size(); i-- > 0;) {
    const int64_t at = index % output.extents()[i];
    index /= output.extents()[i];
    if (i < skipped) continue;
    const int64_t extent = input.extents()[i - skipped];
    source += (extent == 1 ? 0 : at) * stride;
    stride *= extent;
  }
  return source;
}

int64_t ByAxes(const std::vector<BroadcastAxis>& axes, int64_t index) {
  if (axes.empty()) return index;
  int64_t source = 0;
  for (size_t i = axes.size(); i-- > 0;) {
    source += index % axes[i].extent * axes[i].stride;
    index /= axes[i].extent;
  }
  return source;
}

TEST(BroadcastTest, AxesLeadToTheElementThatTheShapesMean) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int64_t> output(random() % 6);
    for (int64_t& extent : output) extent = 1 + static_cast<int64_t>(random() % 4);
    std::vector<int64_t> input(output.begin() + static_cast<int>(random() % (output.size() + 1)),
                               output.end());
    for (int64_t& extent : input) extent = random() % 2 == 0 ? 1 : extent;
    const Shape to = Of(output);
    const Shape from = Of(input);
    const std::vector<BroadcastAxis> axes = BroadcastAxes(from, to);
    for (int64_t index = 0; index < to.element_count(); ++index) {
      ASSERT_EQ(ByAxes(axes, index), Source(from, to, index))
          << from.ToString() << " to " << to.ToString() << " at " << index;
    }
  }
}

TEST(BroadcastTest, AxesAreAsFewAsPossible) {
  EXPECT_TRUE(BroadcastAxes(Of({3, 4}), Of({3, 4})).empty());
  EXPECT_TRUE(BroadcastAxes(Of({3, 4}), Of({1, 3, 4})).empty());
  EXPECT_EQ(BroadcastAxes(Of({4, 5}), Of({3, 4, 5})).size(), 2U);
  EXPECT_EQ(BroadcastAxes(Of({3, 1, 1}), Of({3, 4, 5})).size(), 2U);
  EXPECT_EQ(BroadcastAxes(Of({1, 4, 1}), Of({3, 4, 5})).size(), 3U);
}

}  // namespace
}  // namespace shoal::kernels
