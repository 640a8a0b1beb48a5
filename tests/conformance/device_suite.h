#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/device/device.h"

// The tests that every Device passes. An implementation has one small file that builds devices and
// instantiates DeviceSuite with them. Results are compared with the kernels of kernels/cpu.
namespace shoal::device {

/// A device under test, with whatever it stands on.
class DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;
  virtual Device& device() = 0;
};

/// The memory limit that every world's device has.
inline constexpr int64_t kSuiteMemoryBytes = int64_t{64} << 20;

struct DeviceParam {
  std::string name;
  std::function<std::unique_ptr<DeviceWorld>()> make;
};
inline void PrintTo(const DeviceParam& param, std::ostream* os) { *os << param.name; }

/// A Done that a test can wait for, once.
class DoneFuture {
 public:
  Done MakeDone() {
    return [this](absl::Status status) { promise_.set_value(std::move(status)); };
  }
  absl::Status Wait() { return future_.get(); }
  bool IsReady() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

 private:
  std::promise<absl::Status> promise_;
  std::future<absl::Status> future_ = promise_.get_future();
};

class DeviceSuite : public testing::TestWithParam<DeviceParam> {
 protected:
  DeviceSuite() : world_(GetParam().make()), stream_(*world_->device().NewStream()) {}

  Device& device() { return world_->device(); }
  Stream& stream() { return *stream_; }

  template <typename T>
  Buffer Upload(const std::vector<T>& values) {
    return UploadBytes({reinterpret_cast<const std::byte*>(values.data()),
                        static_cast<int64_t>(values.size() * sizeof(T))});
  }
  template <typename T>
  std::vector<T> Download(const Buffer& buffer) {
    std::vector<T> values(static_cast<size_t>(buffer.bytes()) / sizeof(T));
    DownloadBytes(buffer.span(), {reinterpret_cast<std::byte*>(values.data()), buffer.bytes()});
    return values;
  }
  Buffer UploadBytes(ConstSpan host);
  void DownloadBytes(ConstSpan span, Span host);
  absl::Status Run(Work work, CancelFlag cancelled = nullptr);

  std::unique_ptr<DeviceWorld> world_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace shoal::device
