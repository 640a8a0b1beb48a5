#include "client/src/buffer_pool.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace shoal::internal {
namespace {

TEST(BufferPoolTest, GivesTheSameMemoryAgain) {
  auto pool = std::make_shared<BufferPool>(8 * kMiB);
  const std::byte* first = (*pool->Allocate(kMiB))->data();
  EXPECT_EQ(pool->kept_bytes(), kMiB);
  const StorageRef again = *pool->Allocate(kMiB - 1000);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(pool->kept_bytes(), 0);
  EXPECT_NE((*pool->Allocate(kMiB))->data(), first) << "it is in use";
}

TEST(BufferPoolTest, DoesNotWasteALargeBlockOnASmallArray) {
  auto pool = std::make_shared<BufferPool>(8 * kMiB);
  const std::byte* large = (*pool->Allocate(4 * kMiB))->data();
  const StorageRef small = *pool->Allocate(kMiB);
  EXPECT_NE(small->data(), large);
  EXPECT_EQ(pool->kept_bytes(), 4 * kMiB);
}

TEST(BufferPoolTest, KeepsNoMoreThanItMay) {
  auto pool = std::make_shared<BufferPool>(3 * kMiB);
  std::vector<StorageRef> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(*pool->Allocate(kMiB));
  blocks.clear();
  EXPECT_EQ(pool->kept_bytes(), 3 * kMiB);
  (*pool->Allocate(16 * kMiB)).reset();
  EXPECT_LE(pool->kept_bytes(), 3 * kMiB);
}

TEST(BufferPoolTest, BlocksOutliveTheirPool) {
  auto pool = std::make_shared<BufferPool>(kMiB);
  const StorageRef block = *pool->Allocate(256 * kKiB);
  pool.reset();
  block->data()[256 * kKiB - 1] = std::byte{1};
}

}  // namespace
}  // namespace shoal::internal
