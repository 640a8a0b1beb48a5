#include <memory>

#include "base/units.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"
#include "tests/conformance/device_suite.h"

namespace shoal::device {
namespace {

class CpuWorld final : public DeviceWorld {
 public:
  explicit CpuWorld(const CpuDeviceOptions& options)
      : arena_(*memory::Arena::Create({"arena", kGiB, true})), device_(arena_.get(), options) {}
  Device& device() override { return device_; }

 private:
  std::unique_ptr<memory::Arena> arena_;
  CpuDevice device_;
};

DeviceParam Param(const char* name, int threads, Duration inline_cost_max) {
  CpuDeviceOptions options;
  options.threads = threads;
  options.memory_bytes = kSuiteMemoryBytes;
  options.inline_cost_max = inline_cost_max;
  return {name, [options] { return std::make_unique<CpuWorld>(options); }};
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, DeviceSuite,
    testing::Values(Param("OneThread", 1, std::chrono::microseconds(20)),
                    Param("ThreeThreads", 3, std::chrono::microseconds(20)),
                    // Everything goes through the queue; and nothing does, but what must wait.
                    Param("AllQueued", 2, Duration(-1)),
                    Param("AllInline", 2, std::chrono::hours(1))),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace shoal::device
