#include "kernels/cpu/term_buffer.h"

#include <algorithm>
#include <memory>

namespace shoal::kernels::cpu {

TermBuffers TermBuffersOfThread() {
  constexpr size_t kElementBytesMax = 16;
  struct Buffer {
    alignas(64) std::byte bytes[kTermBufferElements * kElementBytesMax];
  };
  thread_local std::array<std::unique_ptr<Buffer>, 2> buffers;
  TermBuffers terms = {};
  for (size_t i = 0; i < terms.size(); ++i) {
    if (buffers[i] == nullptr) buffers[i] = std::make_unique_for_overwrite<Buffer>();
    terms[i] = buffers[i]->bytes;
  }
  return terms;
}

bool PassesOn(const MapKernel& kernel, const MapArgs& args) {
  return kernel.steps.empty() && std::ranges::all_of(kernel.outputs, [&](int16_t output) {
           const auto input = static_cast<size_t>(output);
           return input < args.inputs.size() && !args.inputs[input].single &&
                  args.inputs[input].axes.empty();
         });
}

}  // namespace shoal::kernels::cpu
