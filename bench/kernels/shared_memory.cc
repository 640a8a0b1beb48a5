#include "bench/kernels/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace shoal::bench {

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(int64_t bytes) {
  const auto failed = [](const char* what) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": ", strerror(errno)));
  };
  const int descriptor = memfd_create("shoal-bench", MFD_CLOEXEC);
  if (descriptor < 0) return failed("memfd_create");
  if (ftruncate(descriptor, bytes) != 0) {
    close(descriptor);
    return failed("ftruncate");
  }
  void* const data =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    close(descriptor);
    return failed("mmap");
  }
  return std::unique_ptr<SharedMemory>(
      new SharedMemory(descriptor, static_cast<std::byte*>(data), bytes));
}

SharedMemory::~SharedMemory() {
  munmap(data_, static_cast<size_t>(bytes_));
  close(descriptor_);
}

std::string SharedMemory::Path() const {
  return absl::StrCat("/proc/", getpid(), "/fd/", descriptor_);
}

}  // namespace shoal::bench
