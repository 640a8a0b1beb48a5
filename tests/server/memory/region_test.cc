#include "server/memory/region.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/units.h"

namespace shoal::memory {
namespace {

absl::StatusCode MapCode(int fd, int64_t bytes) { return Region::Map(fd, bytes).status().code(); }

int BareMemfd(int64_t bytes, int seals) {
  const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(fd, bytes), 0);
  if (seals != 0) {
    EXPECT_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
  }
  return fd;
}

TEST(RegionTest, SizeCanNeverChange) {
  const absl::StatusOr<Region> region = Region::Create(5000);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(region->bytes(), 8192) << "rounded up to whole pages";
  EXPECT_EQ(ftruncate(region->fd(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(region->fd(), kMiB), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(region->fd(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "no seal can be added";
  struct stat status = {};
  ASSERT_EQ(fstat(region->fd(), &status), 0);
  EXPECT_EQ(status.st_size, 8192);
  EXPECT_NE(fcntl(region->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(RegionTest, BothMappingsAreTheSameMemory) {
  absl::StatusOr<Region> mine = Region::Create(kMiB);
  ASSERT_TRUE(mine.ok());
  absl::StatusOr<Region> theirs = Region::Map(dup(mine->fd()), kMiB);
  ASSERT_TRUE(theirs.ok());
  EXPECT_EQ(theirs->data()[kMiB - 1], std::byte{0});
  mine->data()[kMiB - 1] = std::byte{7};
  EXPECT_EQ(theirs->data()[kMiB - 1], std::byte{7});

  *mine = Region();
  EXPECT_EQ(theirs->data()[kMiB - 1], std::byte{7}) << "lives as long as one mapping";
}

TEST(RegionTest, PartOfALargerRegionCanBeMapped) {
  const absl::StatusOr<Region> mine = Region::Create(kMiB);
  ASSERT_TRUE(mine.ok());
  const absl::StatusOr<Region> theirs = Region::Map(dup(mine->fd()), 4096);
  ASSERT_TRUE(theirs.ok());
  EXPECT_EQ(theirs->bytes(), 4096);
}

TEST(RegionTest, DescriptorsThatCouldShrinkAreRefused) {
  EXPECT_EQ(MapCode(BareMemfd(kMiB, 0), 4096), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MapCode(BareMemfd(kMiB, F_SEAL_GROW), 4096), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MapCode(BareMemfd(kMiB, F_SEAL_SHRINK), 4096), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Region::Map(BareMemfd(kMiB, F_SEAL_SHRINK | F_SEAL_GROW), 4096).ok());
}

TEST(RegionTest, ForeignDescriptorsAreRefusedAndClosed) {
  int pipe_fds[2] = {-1, -1};
  ASSERT_EQ(pipe(pipe_fds), 0);
  EXPECT_EQ(MapCode(pipe_fds[0], 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fcntl(pipe_fds[0], F_GETFD), -1) << "ownership was taken";
  close(pipe_fds[1]);
  EXPECT_EQ(MapCode(-1, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MapCode(open("/dev/null", O_RDWR), 1), absl::StatusCode::kInvalidArgument);
}

TEST(RegionTest, ClaimsBeyondTheFileAreRefused) {
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
  for (const int64_t bytes : {int64_t{4097}, INT64_MAX, int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(MapCode(BareMemfd(4096, seals), bytes), absl::StatusCode::kInvalidArgument) << bytes;
  }
}

TEST(RegionTest, SizesThatCannotBeAreRefused) {
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(Region::Create(bytes).status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  }
}

TEST(RegionTest, RangesAreCheckedWithoutOverflow) {
  const absl::StatusOr<Region> region = Region::Create(4096);
  ASSERT_TRUE(region.ok());
  EXPECT_TRUE(region->CheckRange(0, 4096).ok());
  EXPECT_TRUE(region->CheckRange(4096, 0).ok());
  EXPECT_TRUE(region->CheckRange(1, 4095).ok());
  const std::pair<int64_t, int64_t> bad[] = {
      {0, 4097}, {4097, 0},      {1, 4096},      {-1, 1},
      {1, -1},   {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MAX, INT64_MAX}};
  for (const auto& [offset, bytes] : bad) {
    EXPECT_EQ(region->CheckRange(offset, bytes).code(), absl::StatusCode::kOutOfRange)
        << offset << " " << bytes;
  }
}

TEST(RegionTest, PunchedPagesReadAsZeroAndOthersStay) {
  absl::StatusOr<Region> region = Region::Create(4 * 4096);
  ASSERT_TRUE(region.ok());
  std::memset(region->data(), 1, 4 * 4096);
  ASSERT_TRUE(region->Punch(100, 2 * 4096).ok());
  EXPECT_EQ(region->data()[4095], std::byte{1});
  EXPECT_EQ(region->data()[4096], std::byte{0});
  EXPECT_EQ(region->data()[8191], std::byte{0});
  EXPECT_EQ(region->data()[8192], std::byte{1}) << "only half of this page was given back";
  struct stat status = {};
  ASSERT_EQ(fstat(region->fd(), &status), 0);
  EXPECT_EQ(status.st_size, 4 * 4096);
  EXPECT_FALSE(region->Punch(0, 4 * 4096 + 1).ok());
}

}  // namespace
}  // namespace shoal::memory
