#include "server/memory/mapping.h"

#include <sys/mman.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/units.h"
#include "server/memory/poison.h"

namespace shoal::memory {
namespace {

constexpr int64_t kHugePageBytes = 2 * kMiB;

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept { *this = std::move(other); }

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (mapped_ != nullptr) munmap(mapped_, static_cast<size_t>(mapped_bytes_));
}

absl::StatusOr<Mapping> Mapping::Reserve(int64_t bytes, bool huge_pages) {
  SHOAL_CHECK(bytes > 0);
  Mapping mapping;
  if (__builtin_add_overflow(bytes, kHugePageBytes, &mapping.mapped_bytes_)) {
    return absl::ResourceExhaustedError(absl::StrCat(bytes, " bytes of address space"));
  }
  void* const mapped =
      mmap(nullptr, static_cast<size_t>(mapping.mapped_bytes_), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", FormatBytes(bytes), " of address space"));
  }
  mapping.mapped_ = static_cast<std::byte*>(mapped);
  const int64_t misalignment =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(mapped) % kHugePageBytes);
  mapping.data_ = mapping.mapped_ + (misalignment == 0 ? 0 : kHugePageBytes - misalignment);
  mapping.bytes_ = bytes;
  // A kernel without huge pages refuses; ordinary pages do as well, only slower.
  if (huge_pages) madvise(mapping.data_, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return mapping;
}

void Mapping::Forget(int64_t offset, int64_t bytes) {
  SHOAL_CHECK(offset >= 0 && bytes >= 0 && bytes <= bytes_ - offset);
  Unpoison(data_ + offset, bytes);
  if (bytes > 0) madvise(data_ + offset, static_cast<size_t>(bytes), MADV_DONTNEED);
}

}  // namespace shoal::memory
