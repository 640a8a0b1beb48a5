#include "server/memory/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal::memory {
namespace {

constexpr int64_t kRegionBytesMax = int64_t{1} << 62;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

int64_t PageBytes() { return sysconf(_SC_PAGESIZE); }

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

absl::Status OutOfResources(const char* call, int64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat(call, " of ", bytes, " bytes: ", absl::ErrnoToStatus(errno, "").ToString()));
}

}  // namespace

Region::Region(Region&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Region& Region::operator=(Region&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = std::exchange(other.fd_, -1);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Region::~Region() { Reset(); }

void Region::Reset() noexcept {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(bytes_));
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  data_ = nullptr;
  bytes_ = 0;
}

absl::StatusOr<Region> Region::Create(int64_t bytes) {
  if (bytes < 1 || bytes > kRegionBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a region of ", bytes, " bytes is not in [1, 2^62]"));
  }
  const int64_t rounded_bytes = RoundUp(bytes, PageBytes());
  const int fd = memfd_create("shoal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return OutOfResources("memfd_create", bytes);
  if (ftruncate(fd, rounded_bytes) != 0 || fcntl(fd, F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    absl::Status status = OutOfResources("sizing a memfd", bytes);
    close(fd);
    return status;
  }
  return MapOwned(fd, rounded_bytes);
}

absl::StatusOr<Region> Region::Map(int fd, int64_t bytes) {
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat status = {};
  absl::Status fault;
  if (bytes < 1) {
    fault = absl::InvalidArgumentError(absl::StrCat("a region of ", bytes, " bytes is empty"));
  } else if (seals < 0 || fstat(fd, &status) != 0) {
    fault = absl::InvalidArgumentError("the descriptor is not a memfd");
  } else if ((seals & kSizeSeals) != kSizeSeals) {
    fault = absl::InvalidArgumentError("the memfd is not sealed against shrinking and growing");
  } else if (status.st_size < bytes) {
    fault = absl::InvalidArgumentError(
        absl::StrCat("the memfd has ", status.st_size, " bytes, fewer than ", bytes));
  }
  if (!fault.ok()) {
    if (fd >= 0) close(fd);
    return fault;
  }
  return MapOwned(fd, bytes);
}

absl::StatusOr<Region> Region::MapOwned(int fd, int64_t bytes) {
  void* const data = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) {
    absl::Status status = OutOfResources("mmap", bytes);
    close(fd);
    return status;
  }
  return Region(fd, static_cast<std::byte*>(data), bytes);
}

absl::Status Region::CheckRange(int64_t offset, int64_t bytes) const {
  // No sum is formed before both terms are known to be small enough.
  if (offset < 0 || bytes < 0 || offset > bytes_ || bytes > bytes_ - offset) {
    return absl::OutOfRangeError(absl::StrCat("range of ", bytes, " bytes at ", offset,
                                              " is not inside a region of ", bytes_, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status Region::Punch(int64_t offset, int64_t bytes) {
  if (absl::Status status = CheckRange(offset, bytes); !status.ok()) return status;
  const int64_t begin = RoundUp(offset, PageBytes());
  const int64_t end = (offset + bytes) / PageBytes() * PageBytes();
  if (begin >= end) return absl::OkStatus();
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, end - begin) != 0) {
    return absl::ErrnoToStatus(errno, "punching a hole into a memfd");
  }
  return absl::OkStatus();
}

}  // namespace shoal::memory
