#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal {

/// A transfer of at least so many bytes is written around the caches: half of the last one, since
/// source and target share it.
///
/// A store that misses reads its line first, so a large copy moves three bytes for every two that
/// it has to, and throws out what others have in the caches. The C library does the same from a
/// threshold of its own, which is 240 MiB on the virtual machine this was measured on: a hypervisor
/// may tell of the whole package's cache. There, copies of 16 to 64 MiB gained 1.8 to 2.4 times;
/// below half the cache they lose as much. Thread-safety: any thread.
int64_t StreamingBytesMin();

/// Copies `bytes` >= 0, a part of a transfer of `whole_bytes`, whose size decides as above. The
/// ranges must not overlap. What is written is seen by whoever synchronises with this thread.
void CopyBytes(std::byte* target, const std::byte* source, int64_t bytes, int64_t whole_bytes);

}  // namespace shoal
