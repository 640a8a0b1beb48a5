#include "server/device/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "server/device/cpu/cpu_stream.h"

namespace shoal::device {
namespace {

std::string ModelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

int64_t LastCacheBytes() {
  constexpr int64_t kUnknown = 32 * kMiB;
  const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : kUnknown;
}

}  // namespace

CpuDevice::CpuDevice(memory::Arena* arena, CpuDeviceOptions options)
    : arena_(arena),
      options_(std::move(options)),
      info_{"cpu", ModelName(), options_.threads, options_.memory_bytes, true},
      last_cache_bytes_(LastCacheBytes()),
      budget_(options_.owner, options_.memory_bytes),
      helpers_(options_.threads - 1) {}

CpuDevice::~CpuDevice() { SHOAL_CHECK(stream_count_ == 0); }

absl::StatusOr<Buffer> CpuDevice::Allocate(int64_t bytes) {
  SHOAL_RETURN_IF_ERROR(budget_.Take(bytes));
  absl::StatusOr<std::byte*> data = arena_->AllocateRaw(bytes);
  if (!data.ok()) {
    budget_.Return(bytes);
    return std::move(data).status();
  }
  return Own({*data, bytes});
}

void CpuDevice::Deallocate(Span span) noexcept {
  arena_->Deallocate(span.data, span.bytes);
  budget_.Return(span.bytes);
}

absl::StatusOr<std::unique_ptr<Stream>> CpuDevice::NewStream() {
  stream_count_.fetch_add(1);
  const CpuContext context{&helpers_, this, last_cache_bytes_};
  auto stream = std::make_unique<CpuStream>(context, options_.inline_cost_max, &stream_count_);
  SHOAL_RETURN_IF_ERROR(stream->StartRunner());
  return stream;
}

}  // namespace shoal::device
