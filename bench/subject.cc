#include "bench/subject.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace shoal::bench {
namespace {

class HeapMemory final : public Memory {
 public:
  HeapMemory(std::byte* data, int64_t bytes) { bytes_ = Bytes(data, static_cast<size_t>(bytes)); }
  ~HeapMemory() override { std::free(bytes_.data()); }
};

constexpr size_t kAlignment = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> NewHeapMemory(int64_t bytes) {
  // aligned_alloc wants a multiple of the alignment, and something even for nothing.
  const size_t rounded = (static_cast<size_t>(bytes) / kAlignment + 1) * kAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes of payload"));
  }
  std::memset(data, 0, rounded);
  return std::make_unique<HeapMemory>(data, bytes);
}

wire::Pieces Call::request() const {
  wire::Pieces pieces;
  for (const Memory* argument : arguments) pieces.push_back(argument->bytes());
  return pieces;
}

int64_t Call::request_bytes() const { return wire::TotalBytes(request()); }

absl::StatusOr<std::unique_ptr<Memory>> Lane::Allocate(int64_t bytes) {
  return NewHeapMemory(bytes);
}

absl::Status Lane::Release(int /*slot*/) { return absl::OkStatus(); }

}  // namespace shoal::bench
