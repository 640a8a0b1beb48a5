#include "base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace shoal {
namespace {

TEST(CopyBytesTest, CopiesExactlyThatAtEveryAlignment) {
  constexpr int64_t kRoom = 1024;
  constexpr std::byte kUntouched{0xEE};
  std::vector<std::byte> source(kRoom);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (const int64_t footprint : {int64_t{0}, StreamingFootprintMin(), INT64_MAX}) {
    for (int64_t bytes = 0; bytes <= 400; bytes += bytes < 140 ? 1 : 13) {
      for (const int64_t to : {0, 1, 15, 16, 63, 64, 100}) {
        for (const int64_t from : {0, 3, 64}) {
          std::vector<std::byte> target(kRoom, kUntouched);
          CopyBytes(target.data() + to, source.data() + from, bytes, footprint);
          ASSERT_EQ(
              std::memcmp(target.data() + to, source.data() + from, static_cast<size_t>(bytes)), 0)
              << bytes << " bytes from " << from << " to " << to;
          const auto is_untouched = [&](std::byte byte) { return byte == kUntouched; };
          ASSERT_TRUE(std::all_of(target.begin(), target.begin() + to, is_untouched));
          ASSERT_TRUE(std::all_of(target.begin() + to + bytes, target.end(), is_untouched));
        }
      }
    }
  }
}

TEST(CopyBytesTest, NothingMayComeFromNowhere) { CopyBytes(nullptr, nullptr, 0, INT64_MAX); }

TEST(StreamingFootprintMinTest, IsOfTheOrderOfACache) {
  EXPECT_GE(StreamingFootprintMin(), int64_t{1} << 18);
  EXPECT_LE(StreamingFootprintMin(), int64_t{1} << 32);
}

}  // namespace
}  // namespace shoal
