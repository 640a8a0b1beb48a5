#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/broadcast.h"
#include "kernels/cpu/map.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

// What holds for every op and dtype of the table, whatever the op computes: that is compared with
// references in the tests of the ops' own files.
namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kCount = 3001;

DType InputDType(const OpInfo& op, DType dtype, size_t input) {
  return op.condition && input == 0 ? DType::kBool : dtype;
}

/// One op of one dtype on arrays of its own.
struct OpCase {
  OpCase(const OpInfo& row, DType of, Fill fill = Fill::kAwkward) : op(row), dtype(of) {
    for (size_t i = 0; i < static_cast<size_t>(op.inputs_max); ++i) {
      inputs.push_back(RandomArray(InputDType(op, dtype, i), kCount, fill, 40 + i));
    }
  }

  support::OneKernel On(std::vector<const void*> data, void* out) const {
    std::vector<Scalar> params(op.params.size(), int64_t{3});
    return support::OneOp({op, dtype}, std::move(data), {out, kCount}, std::move(params));
  }
  support::OneKernel On(void* out) const {
    std::vector<const void*> data;
    for (const Bytes& input : inputs) data.push_back(input.data());
    return On(std::move(data), out);
  }
  DType result() const { return OutputDType(op, dtype); }
  Bytes NewOutput() const {
    return Bytes(static_cast<size_t>(kCount * ItemBytes(result())), std::byte{0x5a});
  }
  Bytes Result() const {
    Bytes out = NewOutput();
    const support::OneKernel one = On(out.data());
    RunMap(one.kernel, one.args(), {0, kCount});
    return out;
  }

  const OpInfo& op;
  const DType dtype;
  std::vector<Bytes> inputs;
};

std::ostream& operator<<(std::ostream& stream, const OpCase& c) {
  return stream << c.op.name << " of " << Name(c.dtype);
}

template <class Body>
void ForEachOp(Body body) {
  for (const OpInfo& op : AllOps()) {
    for (const DType dtype : kAllDTypes) {
      if (op.form == OpForm::kMap && op.Supports(dtype)) body(OpCase(op, dtype));
    }
  }
}

/// In three ranges, to an output at some distance from a cache line.
void ExpectInRanges(const OpCase& c, const Bytes& expected, Stores stores,
                    std::mt19937_64& random) {
  Placed out(c.NewOutput(), c.result(), static_cast<int64_t>(random() % 9));
  const support::OneKernel one = c.On(out.data());
  const auto first = static_cast<int64_t>(random() % kCount);
  const auto second = std::min(first + static_cast<int64_t>(random() % 200), kCount);
  for (const MapRange& range : {MapRange{0, first}, {first, second}, {second, kCount}}) {
    RunMap(one.kernel, one.args(), range, stores);
  }
  EXPECT_TRUE(out.Read() == expected) << c << ", cut at " << first << " and " << second;
  EXPECT_TRUE(out.GuardsHold()) << c;
}

TEST(EveryOpTest, HasTheSameBitsOnEveryInstructionSetWithAnyStoresAndCuts) {
  std::mt19937_64 random(1);
  ForEachOp([&](const OpCase& c) {
    const Bytes expected = c.Result();
    ForEachInstructionSet([&](const std::string& name) {
      SCOPED_TRACE(name);
      ExpectInRanges(c, expected, Stores::kCached, random);
      ExpectInRanges(c, expected, Stores::kStreaming, random);
    });
  });
}

TEST(EveryOpTest, MayWriteOverAnyInputWithElementsOfTheOutputsSize) {
  ForEachOp([](const OpCase& c) {
    const Bytes expected = c.Result();
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (ItemBytes(InputDType(c.op, c.dtype, i)) != ItemBytes(c.result())) continue;
      for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
        OpCase over = c;
        const support::OneKernel one = over.On(over.inputs[i].data());
        RunMap(one.kernel, one.args(), {0, kCount}, stores);
        EXPECT_TRUE(over.inputs[i] == expected) << c << ", over input " << i;
      }
    }
  });
}

TEST(EveryOpTest, ReadsASingleElementAsAnArrayOfIt) {
  ForEachOp([](const OpCase& c) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      OpCase spread = c;
      const auto item = static_cast<size_t>(ItemBytes(InputDType(c.op, c.dtype, i)));
      Bytes& array = spread.inputs[i];
      for (size_t at = item; at < array.size(); ++at) array[at] = array[at - item];
      const Bytes expected = spread.Result();
      Bytes out = c.NewOutput();
      support::OneKernel one = c.On(out.data());
      one.inputs[i].single = true;
      RunMap(one.kernel, one.args(), {0, kCount});
      EXPECT_TRUE(out == expected) << c << ", single input " << i;
    }
  });
}

// Whatever byte stands for true: peers may send any. What comes out is as true as it would be.
TEST(EveryOpTest, TakesAnyByteButZeroForTrue) {
  const auto truths = [](const OpCase& c, Bytes array) {
    if (c.result() != DType::kBool) return array;
    for (std::byte& byte : array) byte = byte == std::byte{0} ? byte : std::byte{1};
    return array;
  };
  ForEachOp([&](const OpCase& c) {
    const Bytes expected = truths(c, c.Result());
    OpCase careless = c;
    std::mt19937_64 random(2);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (InputDType(c.op, c.dtype, i) != DType::kBool) continue;
      for (std::byte& byte : careless.inputs[i]) {
        if (byte != std::byte{0}) byte = static_cast<std::byte>(1 + random() % 255);
      }
    }
    EXPECT_TRUE(truths(c, careless.Result()) == expected) << c;
  });
}

/// An input's shape, which NumPy would broadcast to `output`.
Shape RandomInputShape(const Shape& output, std::mt19937_64& random) {
  const auto& extents = output.extents();
  std::vector<int64_t> input(
      extents.begin() + static_cast<std::ptrdiff_t>(random() % (extents.size() + 1)),
      extents.end());
  for (int64_t& extent : input) {
    if (random() % 3 == 0) extent = 1;
  }
  return *Shape::Create(input);
}

Shape RandomShape(std::mt19937_64& random) {
  std::vector<int64_t> extents(random() % 5);
  for (int64_t& extent : extents) extent = 1 + static_cast<int64_t>(random() % 13);
  return *Shape::Create(extents);
}

/// The elements of `array` that go with each index of `output`, one by one.
Bytes Spread(const Bytes& array, DType dtype, const Shape& input, const Shape& output) {
  const int64_t item = ItemBytes(dtype);
  Bytes spread(static_cast<size_t>(output.element_count() * item));
  const size_t skipped = output.extents().size() - input.extents().size();
  for (int64_t i = 0; i < output.element_count(); ++i) {
    int64_t rest = i;
    int64_t source = 0;
    int64_t stride = 1;
    for (size_t axis = output.extents().size(); axis-- > skipped;) {
      const int64_t extent = input.extents()[axis - skipped];
      source += (extent == 1 ? 0 : rest % output.extents()[axis]) * stride;
      stride *= extent;
      rest /= output.extents()[axis];
    }
    std::copy_n(array.data() + source * item, item, spread.data() + i * item);
  }
  return spread;
}

/// An op on inputs of random shapes, and on the same ones spread out.
struct BroadcastCase {
  explicit BroadcastCase(uint64_t seed) {
    std::mt19937_64 random(seed);
    do {
      op = &AllOps()[random() % AllOps().size()];
      dtype = kAllDTypes[random() % kAllDTypes.size()];
    } while (op->form != OpForm::kMap || !op->Supports(dtype));
    output = RandomShape(random);
    const int64_t count = output.element_count();
    for (size_t i = 0; i < static_cast<size_t>(op->inputs_max); ++i) {
      const DType of = InputDType(*op, dtype, i);
      const Shape shape = RandomInputShape(output, random);
      arrays.push_back(RandomArray(of, shape.element_count(), Fill::kAwkward, random()));
      spread.push_back(Spread(arrays.back(), of, shape, output));
      axes.push_back(BroadcastAxes(shape, output));
      single.push_back(shape.element_count() == 1 && random() % 2 == 0);
    }
    cut = static_cast<int64_t>(random() % static_cast<uint64_t>(count + 1));
    stores = random() % 2 == 0 ? Stores::kCached : Stores::kStreaming;
  }

  /// Elements [begin, end) as an array of their own, the second half of them as another range.
  void RunPiece(int64_t begin, int64_t end, std::byte* out) const {
    std::vector<const void*> data;
    for (size_t i = 0; i < arrays.size(); ++i) {
      const bool plain = axes[i].empty() && !single[i];
      const int64_t item = ItemBytes(InputDType(*op, dtype, i));
      data.push_back(arrays[i].data() + (plain ? begin * item : 0));
    }
    support::OneKernel one = support::OneOp(
        {*op, dtype}, data, {out + begin * ItemBytes(OutputDType(*op, dtype)), end - begin},
        std::vector<Scalar>(op->params.size(), int64_t{3}));
    one.first_index = begin;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (!single[i]) one.inputs[i].axes = axes[i];
      one.inputs[i].single = single[i];
    }
    const int64_t middle = (end - begin) / 2;
    RunMap(one.kernel, one.args(), {0, middle}, stores);
    RunMap(one.kernel, one.args(), {middle, end - begin}, stores);
  }

  const OpInfo* op = nullptr;
  DType dtype = DType::kBool;
  Shape output;
  std::vector<Bytes> arrays;
  std::vector<Bytes> spread;
  std::vector<std::vector<BroadcastAxis>> axes;
  std::vector<bool> single;
  int64_t cut = 0;
  Stores stores = Stores::kCached;
};

TEST(EveryOpTest, BroadcastsAsIndexByIndex) {
  ForEachInstructionSet([](const std::string& name) {
    for (uint64_t seed = 0; seed < 1500; ++seed) {
      const BroadcastCase c(seed);
      const int64_t count = c.output.element_count();
      Bytes expected(static_cast<size_t>(count * ItemBytes(OutputDType(*c.op, c.dtype))));
      Bytes out(expected.size(), std::byte{0x5a});
      std::vector<const void*> spread;
      for (const Bytes& array : c.spread) spread.push_back(array.data());
      const support::OneKernel plain =
          support::OneOp({*c.op, c.dtype}, spread, {expected.data(), count},
                         std::vector<Scalar>(c.op->params.size(), int64_t{3}));
      RunMap(plain.kernel, plain.args(), {0, count});
      c.RunPiece(0, c.cut, out.data());
      c.RunPiece(c.cut, count, out.data());
      ASSERT_TRUE(out == expected) << c.op->name << " of " << Name(c.dtype) << " to "
                                   << c.output.ToString() << ", seed " << seed << ", " << name;
    }
  });
}

}  // namespace
}  // namespace shoal::kernels::cpu
