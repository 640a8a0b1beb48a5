#include "tests/support/sealed_device.h"

#include <sys/mman.h>

#include <utility>
#include <variant>

#include "base/check.h"
#include "base/status.h"

namespace shoal::support {
namespace {

using device::ConstSpan;
using device::Done;
using device::Span;

constexpr int64_t kAlignment = 64;
constexpr int64_t kSlack = int64_t{1} << 20;
constexpr int64_t kPage = 4096;

int64_t RoundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

device::CpuDeviceOptions AllQueued(device::CpuDeviceOptions options) {
  options.inline_cost_max = Duration(-1);
  return options;
}

/// Checks that a kernel's arguments are the device's own memory.
struct CheckArguments {
  void At(const void* data, int64_t bytes) const {
    SHOAL_CHECK(device->Holds({static_cast<const std::byte*>(data), bytes}));
  }
  void operator()(const device::MapWork& work) const {
    Inputs(*work.kernel, work.args);
    for (size_t i = 0; i < work.args.outputs.size(); ++i) {
      const int64_t item = kernels::ItemBytes(work.kernel->OutputDType(i));
      if (work.args.count > 0) At(work.args.outputs[i], work.args.count * item);
    }
  }
  // Of what is broadcast, the first element; the kernel faults where it reads others elsewhere.
  void Inputs(const kernels::MapKernel& kernel, const kernels::MapArgs& args) const {
    if (args.count == 0) return;
    for (size_t i = 0; i < args.inputs.size(); ++i) {
      const bool plain = !args.inputs[i].single && args.inputs[i].axes.empty();
      At(args.inputs[i].data, (plain ? args.count : 1) * kernels::ItemBytes(kernel.inputs[i]));
    }
  }
  void operator()(const device::ReduceWork& work) const { Inputs(*work.kernel, work.args); }
  void operator()(const device::FoldWork& work) const {
    Inputs(*work.kernel, work.args);
    const kernels::DType output = kernels::OutputDType(*work.op, work.kernel->OutputDType(0));
    if (work.shape.result_count() == 0) return;
    At(work.out, work.shape.result_count() * kernels::ItemBytes(output));
  }
  void operator()(const device::FoldRowsWork& work) const { Inputs(*work.kernel, work.args); }
  void operator()(const device::FinishRowsWork& work) const {
    if (work.column_count == 0) return;
    At(work.out,
       work.column_count * kernels::ItemBytes(kernels::OutputDType(*work.op, work.dtype)));
  }
  void operator()(const device::SortWork& work) const {
    At(work.args.data,
       work.args.row_count * work.args.row_elements * kernels::ItemBytes(work.args.dtype));
  }
  void operator()(const device::MergeWork& work) const {
    for (const ConstSpan& run : work.runs) At(run.data, run.bytes);
    At(work.output.data, work.output.bytes);
  }

  const SealedDevice* device;
};

/// The inner device's stream; before each operation the memory is unsealed, by a pause that is over
/// at once, and after it sealed again.
class SealedStream final : public device::Stream {
 public:
  SealedStream(SealedDevice* device, std::unique_ptr<device::Stream> inner)
      : device_(device), inner_(std::move(inner)) {}

  void CopyIn(ConstSpan host, Span device, Done done) override {
    SHOAL_CHECK(device_->IsElsewhere(host) && device_->Holds(device));
    inner_->CopyIn(host, device, Within(std::move(done)));
  }
  void CopyOut(ConstSpan device, Span host, Done done) override {
    SHOAL_CHECK(device_->Holds(device) && device_->IsElsewhere(host));
    inner_->CopyOut(device, host, Within(std::move(done)));
  }
  void Copy(ConstSpan source, Span target, Done done) override {
    SHOAL_CHECK(device_->Holds(source) && device_->Holds(target));
    inner_->Copy(source, target, Within(std::move(done)));
  }
  void Launch(device::Work work, device::CancelFlag cancelled, Done done) override {
    std::visit(CheckArguments{device_}, work);
    inner_->Launch(std::move(work), cancelled, Within(std::move(done)));
  }
  void Pause(absl::AnyInvocable<void(device::Resume) &&> reached) override {
    inner_->Pause([device = device_, reached = std::move(reached)](device::Resume resume) mutable {
      device->Unseal();
      std::move(reached)([device, resume = std::move(resume)]() mutable {
        device->Seal();
        std::move(resume)();
      });
    });
  }
  bool Idle() const override { return inner_->Idle(); }

 private:
  Done Within(Done done) {
    inner_->Pause([device = device_](device::Resume resume) {
      device->Unseal();
      std::move(resume)();
    });
    return [device = device_, done = std::move(done)](absl::Status status) mutable {
      device->Seal();
      std::move(done)(std::move(status));
    };
  }

  SealedDevice* const device_;
  const std::unique_ptr<device::Stream> inner_;
};

}  // namespace

SealedDevice::SealedDevice(memory::Arena* arena, const device::CpuDeviceOptions& options)
    : inner_(arena, AllQueued(options)),
      info_(inner_.Info()),
      budget_(options.owner, options.memory_bytes),
      // Room enough for holes.
      region_bytes_(RoundUp(2 * options.memory_bytes + kSlack, kPage)),
      region_(static_cast<std::byte*>(mmap(nullptr, static_cast<size_t>(region_bytes_), PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  SHOAL_CHECK(region_ != MAP_FAILED);
  info_.host_addressable = false;
}

SealedDevice::~SealedDevice() {
  SHOAL_CHECK(extents_.empty() && unsealed_ == 0);
  munmap(region_, static_cast<size_t>(region_bytes_));
}

absl::StatusOr<device::Buffer> SealedDevice::Allocate(int64_t bytes) {
  SHOAL_RETURN_IF_ERROR(budget_.Take(bytes));
  const int64_t size = RoundUp(std::max(bytes, int64_t{1}), kAlignment);
  const std::lock_guard lock(mutex_);
  int64_t offset = 0;
  for (const auto& [begin, held] : extents_) {
    if (begin - offset >= size) break;
    offset = begin + held;
  }
  SHOAL_CHECK(region_bytes_ - offset >= size);
  extents_[offset] = size;
  return Own({region_ + offset, bytes});
}

void SealedDevice::Deallocate(device::Span span) noexcept {
  const std::lock_guard lock(mutex_);
  SHOAL_CHECK(extents_.erase(span.data - region_) == 1);
  budget_.Return(span.bytes);
}

absl::StatusOr<std::unique_ptr<device::Stream>> SealedDevice::NewStream() {
  SHOAL_ASSIGN_OR_RETURN(auto inner, inner_.NewStream());
  return std::make_unique<SealedStream>(this, std::move(inner));
}

void SealedDevice::Unseal() {
  const std::lock_guard lock(mutex_);
  if (unsealed_++ > 0) return;
  SHOAL_CHECK(mprotect(region_, static_cast<size_t>(region_bytes_), PROT_READ | PROT_WRITE) == 0);
}

void SealedDevice::Seal() {
  const std::lock_guard lock(mutex_);
  if (--unsealed_ > 0) return;
  SHOAL_CHECK(mprotect(region_, static_cast<size_t>(region_bytes_), PROT_NONE) == 0);
}

bool SealedDevice::Holds(device::ConstSpan span) const {
  return span.bytes == 0 ||
         (span.data >= region_ && span.data + span.bytes <= region_ + region_bytes_);
}

bool SealedDevice::IsElsewhere(device::ConstSpan span) const {
  return span.bytes == 0 || span.data + span.bytes <= region_ ||
         span.data >= region_ + region_bytes_;
}

}  // namespace shoal::support
