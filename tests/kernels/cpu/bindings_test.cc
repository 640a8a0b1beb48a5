#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/op_code.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sort.h"
#include "kernels/registry.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

// Walks the whole table: what it claims runs, with parameters its own rules accept.
namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kCount = 100;

/// Runs the op on arrays of ones; the output's bytes, all 0xcc before.
Bytes RunOnOnes(const OpInfo& op, DType dtype) {
  Bytes ones(static_cast<size_t>(kCount * ItemBytes(dtype)));
  for (int64_t i = 0; i < kCount; ++i) {
    std::byte* at = ones.data() + i * ItemBytes(dtype);
    if (IsFloat(PartOf(dtype))) {
      StoreFloat(PartOf(dtype), at, 1.0);
    } else {
      StoreInteger(dtype, at, 1);
    }
  }
  const DType output_dtype = OutputDType(op, dtype);
  const int64_t count = op.form == OpForm::kReduce ? 1 : kCount;
  Bytes output(static_cast<size_t>(count * ItemBytes(output_dtype)), std::byte{0xcc});
  switch (op.form) {
    case OpForm::kMove:
      output = ones;
      break;
    case OpForm::kMap: {
      const std::vector<const void*> inputs(static_cast<size_t>(op.inputs_max), ones.data());
      const support::OneKernel one = support::OneOp({op, dtype}, inputs, {output.data(), kCount},
                                                    std::vector<Scalar>(op.params.size(), 1.0));
      RunMap(one.kernel, one.args(), {0, kCount});
      break;
    }
    case OpForm::kReduce:
      ReduceAll(op, {dtype, {ones.data(), ones.data()}, 0, kCount}, output.data());
      break;
    case OpForm::kSort:
      output = ones;
      RunSort(op, {dtype, output.data(), 1, kCount});
      break;
  }
  return output;
}

TEST(BindingsTest, WhatTheTableClaimsRuns) {
  int pairs = 0;
  for (const OpInfo& op : AllOps()) {
    const std::vector<Scalar> params(op.params.size(), 1.0);
    for (const DType dtype : kAllDTypes) {
      if (!op.Supports(dtype)) continue;
      EXPECT_TRUE(ValidateParams(op, dtype, params).ok()) << op.name;
      const Bytes output = RunOnOnes(op, dtype);
      // No result of ones is 0xcc in every byte.
      EXPECT_FALSE(output == Bytes(output.size(), std::byte{0xcc})) << op.name << Name(dtype);
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 500);
}

TEST(BindingsTest, WhatItDoesNotClaimHasNoCode) {
  for (const OpInfo& op : AllOps()) {
    const MapCode* map = FindMapCode(IndexOf(op));
    const ReduceCodes* reduce = FindReduceCode(IndexOf(op));
    EXPECT_EQ(map != nullptr, op.form == OpForm::kMap) << op.name;
    EXPECT_EQ(reduce != nullptr, op.form == OpForm::kReduce) << op.name;
    EXPECT_EQ(FindSortCode(IndexOf(op)) != nullptr, op.form == OpForm::kSort) << op.name;
    for (const DType dtype : kAllDTypes) {
      const auto slot = static_cast<size_t>(dtype);
      const bool in_map = map != nullptr && map->loops[slot] != nullptr;
      const bool in_reduce = reduce != nullptr && (*reduce)[slot].leaf != nullptr;
      const bool looped = op.form == OpForm::kMap || op.form == OpForm::kReduce;
      EXPECT_EQ(in_map || in_reduce, looped && op.Supports(dtype));
    }
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
