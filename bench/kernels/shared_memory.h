#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace shoal::bench {

/// Memory of this process that its children can map, too; gone with the last who has it mapped.
class SharedMemory {
 public:
  /// Errors:
  ///   RESOURCE_EXHAUSTED  the system has no such memory.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(int64_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// A file name that holds as long as this does.
  std::string Path() const;

 private:
  SharedMemory(int descriptor, std::byte* data, int64_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}

  const int descriptor_;
  std::byte* const data_;
  const int64_t bytes_;
};

}  // namespace shoal::bench
