#include "kernels/cpu/block_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

// Random kernels, block by block, against the same steps one after another on whole arrays.
namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kCount = 5003;

struct RandomKernel {
  // Valid while this kernel lives and its arrays stay where they are.
  std::vector<MapInput> Inputs() const {
    std::vector<MapInput> from;
    for (size_t i = 0; i < arrays.size(); ++i) {
      from.push_back({.data = arrays[i].data(), .axes = axes[i], .single = single[i]});
    }
    return from;
  }

  MapKernel kernel;
  std::vector<Bytes> arrays;
  std::vector<std::vector<BroadcastAxis>> axes;  ///< Empty: not broadcast.
  std::vector<bool> single;
  std::vector<Scalar> scalars;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  RandomKernel Make() {
    RandomKernel made;
    for (uint64_t i = 0; i <= random_() % 4; ++i) {
      const DType dtype = AnyDType();
      made.kernel.inputs.push_back(dtype);
      made.single.push_back(random_() % 5 == 0);
      made.axes.push_back(!made.single.back() && random_() % 4 == 0 ? AnyAxes()
                                                                    : std::vector<BroadcastAxis>());
      made.arrays.push_back(RandomArray(dtype, kCount, Fill::kAwkward, random_()));
    }
    for (uint64_t i = 0; i < random_() % 3; ++i) {
      made.kernel.scalars.push_back(AnyDType());
      made.scalars.emplace_back(static_cast<double>(random_() % 2));
    }
    const uint64_t steps = random_() % 40;
    for (uint64_t i = 0; i < steps; ++i) AddStep(made.kernel);
    for (uint64_t i = 0; i <= random_() % 4; ++i)
      made.kernel.outputs.push_back(AnyValue(made.kernel));
    return made;
  }

 private:
  DType AnyDType() { return kAllDTypes[random_() % kAllDTypes.size()]; }

  // Rows of at most 70 elements, each a number of times, over and over.
  std::vector<BroadcastAxis> AnyAxes() {
    const auto row = 1 + static_cast<int64_t>(random_() % 70);
    const auto times = 1 + static_cast<int64_t>(random_() % 9);
    return {{1'000'000, 0}, {row, 1}, {times, 0}};
  }

  int16_t AnyValue(const MapKernel& kernel) {
    return static_cast<int16_t>(random_() % kernel.value_count());
  }

  // An op that the value's dtype has, or a conversion.
  void AddStep(MapKernel& kernel) {
    const int16_t last = AnyValue(kernel);
    const DType dtype = kernel.DTypeOf(last);
    const OpInfo& op = AllOps()[random_() % AllOps().size()];
    MapStep step;
    step.operands = {last, last, last};
    if (op.form == OpForm::kMap && op.Supports(dtype) && op.params.empty()) {
      step.op = &op;
      step.dtype = dtype;
      step.result = OutputDType(op, dtype);
      for (int16_t& operand : step.operands) {
        const int16_t other = AnyValue(kernel);
        if (kernel.DTypeOf(other) == dtype) operand = other;
      }
      if (op.condition) {
        int16_t condition = -1;
        for (int tries = 0; tries < 20 && condition < 0; ++tries) {
          const int16_t value = AnyValue(kernel);
          if (kernel.DTypeOf(value) == DType::kBool) condition = value;
        }
        if (condition < 0) return;
        step.operands[0] = condition;
      }
    } else {
      step.dtype = dtype;
      step.result = kAllDTypes[random_() % kAllDTypes.size()];
    }
    kernel.steps.push_back(step);
  }

  std::mt19937_64 random_;
};

/// Element by element, where it is broadcast.
Bytes Gathered(const Bytes& array, DType dtype, const std::vector<BroadcastAxis>& axes,
               int64_t first_index) {
  const int64_t item = ItemBytes(dtype);
  Bytes gathered(static_cast<size_t>(kCount * item));
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t source = (first_index + i) / axes[2].extent % axes[1].extent;
    std::copy_n(array.data() + source * item, item, gathered.data() + i * item);
  }
  return gathered;
}

/// Each value of the kernel as a whole array, one step at a time.
std::vector<Bytes> StepByStep(const RandomKernel& made, int64_t first_index) {
  const MapKernel& kernel = made.kernel;
  std::vector<Bytes> values;
  const auto run_one = [&](MapKernel one, std::vector<const void*> inputs, bool single,
                           std::vector<Scalar> scalars) {
    Bytes out(static_cast<size_t>(kCount * ItemBytes(one.OutputDType(0))));
    support::OneKernel alone;
    alone.kernel = std::move(one);
    for (const void* input : inputs) {
      alone.inputs.push_back({.data = input, .axes = {}, .single = single});
    }
    alone.scalars = std::move(scalars);
    alone.outputs = {out.data()};
    RunMap(alone.kernel, alone.args(), {0, kCount});
    values.push_back(std::move(out));
  };
  for (size_t i = 0; i < made.arrays.size(); ++i) {
    const DType dtype = kernel.inputs[i];
    if (!made.axes[i].empty()) {
      values.push_back(Gathered(made.arrays[i], dtype, made.axes[i], first_index));
    } else {
      run_one(IdentityKernel(dtype), {made.arrays[i].data()}, made.single[i], {});
    }
  }
  for (size_t i = 0; i < made.scalars.size(); ++i) {
    MapKernel constant;
    constant.scalars = {kernel.scalars[i]};
    constant.outputs = {0};
    run_one(constant, {}, false, {made.scalars[i]});
  }
  Bytes index(static_cast<size_t>(kCount * 8));
  for (int64_t i = 0; i < kCount; ++i) Store(index.data() + 8 * i, first_index + i);
  values.push_back(index);
  for (const MapStep& step : kernel.steps) {
    MapKernel one;
    const int inputs = step.op == nullptr ? 1 : step.op->inputs_min;
    std::vector<const void*> data;
    if (step.op == nullptr) {
      one.inputs = {step.dtype};
      one.steps = {{.op = nullptr, .dtype = step.dtype, .result = step.result}};
      one.outputs = {one.StepValue(0)};
    } else {
      one = OpKernel(*step.op, step.dtype);
    }
    for (int i = 0; i < inputs; ++i) {
      data.push_back(values[static_cast<size_t>(step.operands[static_cast<size_t>(i)])].data());
    }
    run_one(one, data, false, {});
  }
  return values;
}

support::OneKernel ArgsOf(const RandomKernel& made, uint64_t seed) {
  support::OneKernel one;
  one.kernel = made.kernel;
  one.inputs = made.Inputs();
  one.scalars = made.scalars;
  one.first_index = static_cast<int64_t>(seed) * 1000;
  one.count = kCount;
  return one;
}

void RunInTwo(const support::OneKernel& one, uint64_t seed) {
  const Stores stores = seed % 2 == 0 ? Stores::kCached : Stores::kStreaming;
  const auto cut = static_cast<int64_t>(seed * 7919 % kCount);
  RunMap(one.kernel, one.args(), {0, cut}, stores);
  RunMap(one.kernel, one.args(), {cut, kCount}, stores);
}

TEST(BlockRunTest, RandomKernelsGiveTheBitsOfTheirSteps) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomKernel made = Maker(seed).Make();
    support::OneKernel one = ArgsOf(made, seed);
    const std::vector<Bytes> values = StepByStep(made, one.first_index);
    std::vector<Bytes> outputs;
    for (const int16_t output : made.kernel.outputs) {
      outputs.emplace_back(values[static_cast<size_t>(output)].size());
    }
    for (Bytes& output : outputs) one.outputs.push_back(output.data());
    ForEachInstructionSet([&](const std::string& name) {
      for (Bytes& output : outputs) std::ranges::fill(output, std::byte{0x5a});
      RunInTwo(one, seed);
      for (size_t i = 0; i < outputs.size(); ++i) {
        ASSERT_TRUE(outputs[i] == values[static_cast<size_t>(made.kernel.outputs[i])])
            << "seed " << seed << ", output " << i << " of " << made.kernel.steps.size()
            << " steps, " << name;
      }
    });
  }
}

// A single output, over each input that it may be.
TEST(BlockRunTest, RandomKernelsMayWriteOverTheirInputs) {
  int runs = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomKernel made = Maker(seed).Make();
    made.kernel.outputs.resize(1);
    const int64_t item = ItemBytes(made.kernel.OutputDType(0));
    const auto value = static_cast<size_t>(made.kernel.outputs[0]);
    const Bytes expected = StepByStep(made, static_cast<int64_t>(seed) * 1000)[value];
    for (size_t i = 0; i < made.arrays.size(); ++i) {
      const bool plain = !made.single[i] && made.axes[i].empty();
      if (!plain || ItemBytes(made.kernel.inputs[i]) != item) continue;
      RandomKernel over = made;
      support::OneKernel one = ArgsOf(over, seed);
      one.outputs = {over.arrays[i].data()};
      RunInTwo(one, seed);
      ASSERT_TRUE(over.arrays[i] == expected) << "seed " << seed << ", over input " << i;
      ++runs;
    }
  }
  EXPECT_GT(runs, 100) << "the kernels must have such inputs";
}

// x - 3 * x, over x: the second step reads what the first must not have overwritten.
TEST(BlockRunTest, AKernelOfSeveralStepsMayWriteOverItsInput) {
  std::vector<float> x(kCount);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  support::OneKernel one;
  one.kernel.inputs = {DType::kFloat32};
  one.kernel.scalars = {DType::kFloat32};
  one.kernel.steps = {{.op = FindOp("multiply"),
                       .dtype = DType::kFloat32,
                       .result = DType::kFloat32,
                       .operands = {0, 1}},
                      {.op = FindOp("subtract"),
                       .dtype = DType::kFloat32,
                       .result = DType::kFloat32,
                       .operands = {0, 3}}};
  one.kernel.outputs = {4};
  one.inputs = {{.data = x.data(), .axes = {}, .single = false}};
  one.scalars = {3.0};
  one.outputs = {x.data()};
  one.count = kCount;
  for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
    std::vector<float> expected = x;
    for (float& value : expected) value = value - 3 * value;
    RunMap(one.kernel, one.args(), {0, kCount}, stores);
    EXPECT_EQ(x, expected);
  }
}

TEST(BlockRunTest, BroadcastInputsAreGatheredFromTheirAxes) {
  for (const DType dtype : {DType::kInt16, DType::kFloat16, DType::kComplex128}) {
    const int64_t item = ItemBytes(dtype);
    const Bytes x = RandomArray(dtype, 60 * 70, Fill::kFinite, 1);
    const Bytes row = RandomArray(dtype, 70, Fill::kFinite, 2);
    Bytes spread(x.size());
    for (int64_t i = 0; i < 60; ++i)
      std::copy(row.begin(), row.end(), spread.begin() + i * 70 * item);
    Bytes expected(x.size());
    Bytes out(x.size());
    support::OneKernel one = support::OneOp({*FindOp("add"), dtype}, {x.data(), spread.data()},
                                            {expected.data(), 60 * 70});
    RunMap(one.kernel, one.args(), {0, 60 * 70});
    const std::vector<BroadcastAxis> axes = {{60, 0}, {70, 1}};
    one.inputs[1] = {.data = row.data(), .axes = axes, .single = false};
    one.outputs = {out.data()};
    RunMap(one.kernel, one.args(), {0, 1234});
    RunMap(one.kernel, one.args(), {1234, 60 * 70});
    EXPECT_TRUE(out == expected) << Name(dtype);
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
