#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shoal::memory {

/// Makes every access to [data, data + bytes) a report under AddressSanitizer, as for freed heap
/// memory; does nothing in other builds.
inline void Poison([[maybe_unused]] const std::byte* data, [[maybe_unused]] int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(data, static_cast<size_t>(bytes));
#endif
}

/// Allows accesses again.
inline void Unpoison([[maybe_unused]] const std::byte* data, [[maybe_unused]] int64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(data, static_cast<size_t>(bytes));
#endif
}

}  // namespace shoal::memory
