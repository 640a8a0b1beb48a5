#include "base/copy.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/units.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

namespace shoal {
namespace {

namespace hn = ::hwy::HWY_NAMESPACE;

// The kernel says what this processor has, sysconf what the package claims: the smaller is right.
int64_t LastCacheBytes() {
  constexpr int64_t kUnknown = 32 * kMiB;
  int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
  int64_t kib = 0;
  if (file >> kib && kib > 0) bytes = bytes > 0 ? std::min(bytes, kib * kKiB) : kib * kKiB;
  return bytes > 0 ? bytes : kUnknown;
}

// The instructions that every processor of the architecture has: wider ones do not store faster
// past the caches, where whole lines leave in any case.
void StreamBytes(uint8_t* target, const uint8_t* source, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kUnrolled = 4;
  int64_t i = 0;
  for (; i + kUnrolled * lanes <= bytes; i += kUnrolled * lanes) {
    const auto a = hn::LoadU(d, source + i);
    const auto b = hn::LoadU(d, source + i + lanes);
    const auto c = hn::LoadU(d, source + i + 2 * lanes);
    const auto e = hn::LoadU(d, source + i + 3 * lanes);
    hn::Stream(a, d, target + i);
    hn::Stream(b, d, target + i + lanes);
    hn::Stream(c, d, target + i + 2 * lanes);
    hn::Stream(e, d, target + i + 3 * lanes);
  }
  std::memcpy(target + i, source + i, static_cast<size_t>(bytes - i));
  hwy::FlushStream();
}

}  // namespace

int64_t StreamingFootprintMin() {
  static const int64_t footprint_min = LastCacheBytes();
  return footprint_min;
}

void CopyBytes(std::byte* target, const std::byte* source, int64_t bytes, int64_t footprint_bytes) {
  constexpr int64_t kLineBytes = 64;
  if (bytes == 0) return;  // Then either may be null.
  if (footprint_bytes < StreamingFootprintMin() || bytes < kLineBytes) {
    std::memcpy(target, source, static_cast<size_t>(bytes));
    return;
  }
  // Up to a line of the target: the stores want it aligned.
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(target) % kLineBytes);
  const int64_t head = past_line == 0 ? 0 : kLineBytes - past_line;
  std::memcpy(target, source, static_cast<size_t>(head));
  StreamBytes(reinterpret_cast<uint8_t*>(target + head),
              reinterpret_cast<const uint8_t*>(source + head), bytes - head);
}

}  // namespace shoal
