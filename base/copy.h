#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal {

/// Work that touches at least so much memory writes around the caches: as much as the last holds.
///
/// A store that misses reads its line first, so a large copy moves three bytes for every two that
/// it has to, and throws out what others have in the caches. The C library does the same from a
/// threshold of its own, which is 240 MiB on the virtual machine this was measured on: a hypervisor
/// may tell of the whole package's cache. There, copies of 16 to 64 MiB gained 1.8 to 2.4 times;
/// what fits into the cache loses as much (docs/decisions/0010). Thread-safety: any thread.
int64_t StreamingFootprintMin();

/// Copies `bytes` >= 0, a part of work that touches `footprint_bytes` in all: a copy from memory to
/// memory twice its size, one whose source lies in the cache its size. The ranges must not overlap.
/// What is written is seen by whoever synchronises with this thread.
void CopyBytes(std::byte* target, const std::byte* source, int64_t bytes, int64_t footprint_bytes);

/// A whole copy from memory to memory.
inline void CopyBytes(std::byte* target, const std::byte* source, int64_t bytes) {
  CopyBytes(target, source, bytes, 2 * bytes);
}

}  // namespace shoal
