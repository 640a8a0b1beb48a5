#include "server/device/cpu/cpu_device.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/status.h"
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

}  // namespace

CpuDevice::CpuDevice(memory::Arena* arena, CpuDeviceOptions options)
    : arena_(arena),
      options_(std::move(options)),
      info_{"cpu", ModelName(), options_.threads, options_.memory_bytes, true},
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
  const CpuContext context{&helpers_, this};
  auto stream = std::make_unique<CpuStream>(context, options_.inline_cost_max, &stream_count_);
  SHOAL_RETURN_IF_ERROR(stream->StartRunner());
  return stream;
}

}  // namespace shoal::device
