#include "server/device/device.h"

namespace shoal::device {

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), span_(std::exchange(other.span_, {})) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    Release();
    device_ = std::exchange(other.device_, nullptr);
    span_ = std::exchange(other.span_, {});
  }
  return *this;
}

void Buffer::Release() noexcept {
  if (device_ != nullptr) device_->Deallocate(span_);
  device_ = nullptr;
  span_ = {};
}

}  // namespace shoal::device
