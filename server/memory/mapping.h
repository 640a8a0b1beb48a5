#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace shoal::memory {

/// Reserved private address space whose pages cost nothing until they are written.
///
/// Thread-safety: as a value.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// `bytes` > 0 of address space, aligned to 2 MiB; with `huge_pages` the kernel is asked to back
  /// it with them.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  no address space.
  static absl::StatusOr<Mapping> Reserve(int64_t bytes, bool huge_pages);

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  /// Gives the pages of [offset, offset + bytes), whole pages, back to the system.
  void Forget(int64_t offset, int64_t bytes);

 private:
  std::byte* data_ = nullptr;  ///< The aligned part of what was mapped.
  int64_t bytes_ = 0;
  std::byte* mapped_ = nullptr;
  int64_t mapped_bytes_ = 0;
};

}  // namespace shoal::memory
