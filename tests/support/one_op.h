#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/map.h"
#include "kernels/registry.h"

namespace shoal::support {

/// A kernel with the memory that its arguments borrow: to be run, or launched, where it stands.
struct OneKernel {
  kernels::MapKernel kernel;
  std::vector<kernels::MapInput> inputs;
  std::vector<kernels::Scalar> scalars;
  std::vector<void*> outputs;
  int64_t count = 0;
  int64_t first_index = 0;

  kernels::MapArgs args() const { return {inputs, scalars, outputs, first_index, count}; }
};

struct OpOf {
  const kernels::OpInfo& op;
  kernels::DType dtype;
};

struct Output {
  void* data;
  int64_t count;  ///< Elements.
};

/// The kernel of one op, on plain arrays of as many elements as the output has.
inline OneKernel OneOp(const OpOf& of, std::vector<const void*> inputs, const Output& output,
                       std::vector<kernels::Scalar> params = {}) {
  OneKernel one;
  one.kernel = kernels::OpKernel(of.op, of.dtype);
  for (size_t i = 0; i < one.kernel.inputs.size(); ++i) {
    one.inputs.push_back({.data = inputs[i], .axes = {}, .single = false});
  }
  one.scalars = std::move(params);
  one.outputs = {output.data};
  one.count = output.count;
  return one;
}

}  // namespace shoal::support
