#include "client/src/storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace shoal::internal {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = 2 * kMiB;
constexpr int64_t kHugeFrom = 2 * kHugePage;

class HeapStorage final : public Storage {
 public:
  using Storage::Storage;
  ~HeapStorage() override { FreeAligned(data()); }
};

}  // namespace

absl::StatusOr<std::byte*> AllocateAligned(int64_t bytes) {
  // The kernel would promise it, and kill whoever touches too much of it.
  const int64_t memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (bytes > memory_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes: the machine has ", memory_bytes));
  }
  const int64_t alignment = bytes >= kHugeFrom ? kHugePage : kAlignment;
  void* data = nullptr;
  // An array of no elements gets an address too: it keeps every later step free of a special case.
  const auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  if (posix_memalign(&data, static_cast<size_t>(alignment), wanted) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes"));
  }
  if (bytes >= kHugeFrom) {
    // Advice only: without huge pages everything works, slower.
    madvise(data, wanted / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
  return static_cast<std::byte*>(data);
}

void FreeAligned(std::byte* data) { std::free(data); }

absl::StatusOr<StorageRef> AllocateHeap(int64_t bytes) {
  absl::StatusOr<std::byte*> data = AllocateAligned(bytes);
  if (!data.ok()) return data.status();
  return std::make_shared<HeapStorage>(*data, bytes);
}

}  // namespace shoal::internal
