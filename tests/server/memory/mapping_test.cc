#include "server/memory/mapping.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace shoal::memory {
namespace {

TEST(MappingTest, IsAlignedZeroAndForgets) {
  absl::StatusOr<Mapping> mapping = Mapping::Reserve(4 * kMiB, true);
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping->data()) % (2 * kMiB), 0U);
  mapping->data()[0] = std::byte{1};
  mapping->data()[4 * kMiB - 1] = std::byte{1};
  mapping->Forget(0, 2 * kMiB);
  EXPECT_EQ(mapping->data()[0], std::byte{0});
  EXPECT_EQ(mapping->data()[4 * kMiB - 1], std::byte{1});
  EXPECT_FALSE(Mapping::Reserve(INT64_MAX, false).ok());
}

}  // namespace
}  // namespace shoal::memory
