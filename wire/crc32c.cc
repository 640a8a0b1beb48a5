#include "wire/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstddef>

namespace shoal::wire {

uint32_t ExtendCrc32c(uint32_t crc, absl::Span<const std::byte> data) {
  // isa-l counts in int and, unlike the standard, inverts neither at the start nor at the end.
  constexpr size_t kPieceBytes = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!data.empty()) {
    const size_t piece = std::min(data.size(), kPieceBytes);
    // Its signature is not const; it only reads.
    auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(data.data()));
    state = crc32_iscsi(bytes, static_cast<int>(piece), state);
    data.remove_prefix(piece);
  }
  return ~state;
}

uint32_t Crc32c(absl::Span<const std::byte> data) { return ExtendCrc32c(0, data); }

}  // namespace shoal::wire
