#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/registry.h"

namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kBatchElements = 16 * kLeafElements;  // In the second-level cache.
constexpr size_t kElementBytesMax = 16;

using Terms = std::array<void*, 2>;

/// The inputs as they lie, where the kernel only passes them on.
bool PassesOn(const MapKernel& kernel, const MapArgs& args) {
  return kernel.steps.empty() && std::ranges::all_of(kernel.outputs, [&](int16_t output) {
           const auto input = static_cast<size_t>(output);
           return input < args.inputs.size() && !args.inputs[input].single &&
                  args.inputs[input].axes.empty();
         });
}

ReducePartial ReducePlain(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range) {
  const DType dtype = kernel.OutputDType(0);
  ReduceArgs plain = {dtype, {}, args.first_index + range.begin, range.end - range.begin};
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const MapInput& input = args.inputs[static_cast<size_t>(kernel.outputs[i])];
    if (input.data == nullptr) continue;  // Of no elements.
    plain.inputs[i] = static_cast<const std::byte*>(input.data) + range.begin * ItemBytes(dtype);
  }
  return ReduceRange(op, plain);
}

/// Memory for one batch of the op's inputs.
Terms TermsOfThread() {
  struct Buffer {
    alignas(64) std::byte bytes[kBatchElements * kElementBytesMax];
  };
  thread_local std::array<std::unique_ptr<Buffer>, 2> buffers;
  Terms terms = {};
  for (size_t i = 0; i < terms.size(); ++i) {
    if (buffers[i] == nullptr) buffers[i] = std::make_unique_for_overwrite<Buffer>();
    terms[i] = buffers[i]->bytes;
  }
  return terms;
}

/// One batch: its elements made, then folded while they are in the cache.
ReducePartial ReduceBatch(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange batch) {
  const Terms terms = TermsOfThread();
  const DType dtype = kernel.OutputDType(0);
  // The kernel writes element `begin` of its output; the buffer begins there.
  Terms shifted = {};
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const auto address = reinterpret_cast<uintptr_t>(terms[i]);
    shifted[i] =
        reinterpret_cast<void*>(address - static_cast<uintptr_t>(batch.begin * ItemBytes(dtype)));
  }
  MapArgs part = args;
  part.outputs = std::span<void* const>(shifted).first(kernel.outputs.size());
  RunMap(kernel, part, batch);
  return ReduceRange(
      op, {dtype, {terms[0], terms[1]}, args.first_index + batch.begin, batch.end - batch.begin});
}

}  // namespace

ReducePartial ReduceRange(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range) {
  SHOAL_CHECK(kernel.outputs.size() == static_cast<size_t>(op.inputs_min));
  if (PassesOn(kernel, args)) return ReducePlain(op, kernel, args, range);
  ReducePartial whole;
  bool first = true;
  int64_t begin = range.begin;
  do {
    // Batches end at leaf boundaries of the whole array, so that none is folded twice.
    const int64_t index = args.first_index + begin;
    const int64_t to_boundary = kBatchElements - index % kBatchElements;
    const MapRange batch = {begin, std::min(range.end, begin + to_boundary)};
    ReducePartial part = ReduceBatch(op, kernel, args, batch);
    whole = first ? std::move(part) : Join(std::move(whole), std::move(part));
    first = false;
    begin = batch.end;
  } while (begin < range.end);
  return whole;
}

}  // namespace shoal::kernels::cpu
