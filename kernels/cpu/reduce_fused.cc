#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/check.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/term_buffer.h"
#include "kernels/registry.h"

namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kBatchElements = kTermBufferElements;

ReducePartial ReducePlain(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range, int64_t first_term) {
  const DType dtype = kernel.OutputDType(0);
  ReduceArgs plain = {dtype, {}, first_term, range.end - range.begin};
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    const MapInput& input = args.inputs[static_cast<size_t>(kernel.outputs[i])];
    if (input.data == nullptr) continue;  // Of no elements.
    plain.inputs[i] = static_cast<const std::byte*>(input.data) + range.begin * ItemBytes(dtype);
  }
  return ReduceRange(op, plain);
}

/// One batch: its elements made, then folded while they are in the cache.
ReducePartial ReduceBatch(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange batch, int64_t first_term) {
  const TermBuffers terms = TermBuffersOfThread();
  const DType dtype = kernel.OutputDType(0);
  TermBuffers shifted = {};
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    shifted[i] = OutputBegin(terms[i], batch.begin, dtype);
  }
  MapArgs part = args;
  part.outputs = std::span<void* const>(shifted).first(kernel.outputs.size());
  RunMap(kernel, part, batch);
  return ReduceRange(op, {dtype, {terms[0], terms[1]}, first_term, batch.end - batch.begin});
}

}  // namespace

ReducePartial ReduceRange(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range, int64_t first_term) {
  SHOAL_CHECK(kernel.outputs.size() == static_cast<size_t>(op.inputs_min));
  if (PassesOn(kernel, args)) return ReducePlain(op, kernel, args, range, first_term);
  ReducePartial whole;
  bool first = true;
  int64_t begin = range.begin;
  do {
    // Batches end at leaf boundaries of the whole tree, so that none is folded twice.
    const int64_t term = first_term + (begin - range.begin);
    const int64_t to_boundary = kBatchElements - term % kBatchElements;
    const MapRange batch = {begin, std::min(range.end, begin + to_boundary)};
    ReducePartial part = ReduceBatch(op, kernel, args, batch, term);
    whole = first ? std::move(part) : Join(std::move(whole), std::move(part));
    first = false;
    begin = batch.end;
  } while (begin < range.end);
  return whole;
}

ReducePartial ReduceRange(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range) {
  return ReduceRange(op, kernel, args, range, args.first_index + range.begin);
}

}  // namespace shoal::kernels::cpu
