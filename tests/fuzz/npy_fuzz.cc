// .npy files: an array comes out, or an error that names the file. An array that came out, written
// again, reads as the same.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "client/cli/npy.h"
#include "client/cli/npy_header.h"
#include "shoal/array.h"

namespace shoal::cli {
namespace {

/// A file without a name on disk.
class MemoryFile {
 public:
  MemoryFile(const void* data, size_t size) : fd_(memfd_create("npy", MFD_CLOEXEC)) {
    SHOAL_CHECK(fd_ >= 0);
    SHOAL_CHECK(write(fd_, data, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

absl::StatusOr<Array> Read(const MemoryFile& file) {
  return ReadNpyFile(
      file.path(), [](Dtype dtype, Shape shape) { return Array::Create(dtype, std::move(shape)); });
}

void CheckRoundTrip(const Array& array) {
  std::string file = FormatNpyHeader(array.dtype(), array.shape());
  file.append(reinterpret_cast<const char*>(array.data().data()), array.data().size());
  const auto again = Read(MemoryFile(file.data(), file.size()));
  SHOAL_CHECK(again.ok() && SameBytes(*again, array));
}

}  // namespace
}  // namespace shoal::cli

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = shoal::cli::Read(shoal::cli::MemoryFile(data, size));
  if (array.ok()) {
    SHOAL_CHECK(array->byte_count() <= static_cast<int64_t>(size));
    shoal::cli::CheckRoundTrip(*array);
    return 0;
  }
  SHOAL_CHECK(!array.status().message().empty());
  return 0;
}
