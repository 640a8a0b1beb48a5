#include "kernels/cpu/map.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

namespace shoal::kernels::cpu {
namespace {

constexpr double kFactor = -3.0;  // A value of every signed dtype; unsigned ones get 5.
constexpr double kUnsignedFactor = 5.0;

double FactorFor(DType dtype) {
  return dtype >= DType::kUint8 && dtype <= DType::kUint64 ? kUnsignedFactor : kFactor;
}

/// Arithmetic in T, each operation rounded by itself.
template <class T>
T Apply(const std::string& op, T a, T x, T y) {
  const volatile T ax = a * x;  // The variable keeps a compiler from fusing the two.
  if (op == "add") return x + y;
  return op == "multiply" ? x * y : ax + y;
}

/// One element of an op's inputs.
struct Operands {
  std::string op;
  DType dtype = DType::kFloat32;
  const std::byte* x = nullptr;
  const std::byte* y = nullptr;
};

void ApplyFloat(const Operands& in, double a, std::byte* out) {
  const auto& [op, dtype, x, y] = in;
  const double u = LoadFloat(dtype, x);
  const double v = LoadFloat(dtype, y);
  if (dtype == DType::kFloat64) {
    StoreFloat(dtype, out, Apply<double>(op, a, u, v));
    return;
  }
  std::array<std::byte, 8> rounded;
  StoreFloat(dtype, rounded.data(), a);
  const auto factor = static_cast<float>(LoadFloat(dtype, rounded.data()));
  const float value = Apply<float>(op, factor, static_cast<float>(u), static_cast<float>(v));
  StoreFloat(dtype, out, double{value});
}

template <class T>
void StoreComplex(DType part, std::byte* out, T re, T im) {
  StoreFloat(part, out, double{re});
  StoreFloat(part, out + sizeof(T), double{im});
}

template <class T>
void ApplyComplex(const Operands& in, T a, std::byte* out) {
  const auto& [op, dtype, x, y] = in;
  const DType part = PartOf(dtype);
  const T xr = Load<T>(x);
  const T xi = Load<T>(x + sizeof(T));
  const T yr = Load<T>(y);
  const T yi = Load<T>(y + sizeof(T));
  if (op == "multiply") {
    const volatile T p = xr * yr;
    const volatile T q = xi * yi;
    const volatile T r = xr * yi;
    const volatile T s = xi * yr;
    StoreComplex<T>(part, out, p - q, r + s);
  } else {
    StoreComplex<T>(part, out, Apply<T>(op, a, xr, yr), Apply<T>(op, a, xi, yi));
  }
}

/// One element of the op, naively.
void ApplyOne(const Operands& in, std::byte* out) {
  const auto& [op, dtype, x, y] = in;
  const double a = FactorFor(dtype);
  if (dtype == DType::kComplex64) {
    ApplyComplex<float>(in, static_cast<float>(a), out);
  } else if (dtype == DType::kComplex128) {
    ApplyComplex<double>(in, a, out);
  } else if (IsFloat(dtype)) {
    ApplyFloat(in, a, out);
  } else {
    const uint64_t u = LoadInteger(dtype, x);
    const uint64_t v = LoadInteger(dtype, y);
    const auto factor = static_cast<uint64_t>(static_cast<int64_t>(a));
    StoreInteger(dtype, out, Apply<uint64_t>(op, factor, u, v));
  }
}

struct Case {
  const OpInfo* op = nullptr;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  std::array<bool, 2> broadcast = {};
  int64_t offset = 0;
  Stores stores = Stores::kCached;

  std::string Describe() const {
    return std::string(op->name) + " " + std::string(Name(dtype)) + " x" + std::to_string(count) +
           " broadcast " + std::to_string(broadcast[0]) + std::to_string(broadcast[1]) +
           " offset " + std::to_string(offset);
  }
};

std::array<Bytes, 2> InputsOf(const Case& c) {
  std::array<Bytes, 2> inputs;
  for (size_t i = 0; i < 2; ++i) {
    inputs[i] = RandomArray(c.dtype, c.broadcast[i] ? 1 : c.count, Fill::kAwkward, 100 + i);
  }
  return inputs;
}

Bytes Expected(const Case& c, const std::array<Bytes, 2>& inputs) {
  const int64_t item = ItemBytes(c.dtype);
  Bytes out(static_cast<size_t>(c.count * item));
  for (int64_t i = 0; i < c.count; ++i) {
    const std::byte* x = inputs[0].data() + (c.broadcast[0] ? 0 : i * item);
    const std::byte* y = inputs[1].data() + (c.broadcast[1] ? 0 : i * item);
    ApplyOne({std::string(c.op->name), c.dtype, x, y}, out.data() + i * item);
  }
  return out;
}

support::OneKernel KernelOf(const Case& c, const void* x, const void* y, void* out) {
  support::OneKernel one = support::OneOp({*c.op, c.dtype}, {x, y}, {out, c.count});
  one.scalars.assign(c.op->params.size(), FactorFor(c.dtype));
  for (size_t i = 0; i < one.inputs.size(); ++i) one.inputs[i].single = c.broadcast[i];
  return one;
}

void RunOne(const support::OneKernel& one, Stores stores = Stores::kCached) {
  RunMap(one.kernel, one.args(), {0, one.count}, stores);
}

void ExpectAsNaive(const Case& c) {
  const std::array<Bytes, 2> inputs = InputsOf(c);
  const Bytes expected = Expected(c, inputs);
  Placed x(inputs[0], c.dtype, c.offset);
  Placed y(inputs[1], c.dtype, (c.offset * 3) % 5);
  Placed out(Bytes(expected.size(), std::byte{0x55}), c.dtype, c.offset * 2);
  RunOne(KernelOf(c, x.data(), y.data(), out.data()), c.stores);
  EXPECT_EQ(out.Read() == expected, true) << c.Describe();
  EXPECT_TRUE(out.GuardsHold()) << c.Describe();
  EXPECT_TRUE(x.Read() == inputs[0] && y.Read() == inputs[1]) << c.Describe();
}

template <class Body>
void ForEachMap(Body body) {
  for (const char* name : {"add", "multiply", "axpy"}) {
    const OpInfo& op = *FindOp(name);
    for (const DType dtype : kAllDTypes) {
      if (op.Supports(dtype)) body(op, dtype);
    }
  }
}

TEST(MapTest, EverySizeAndDTypeGivesTheNaiveBitsOnEveryInstructionSet) {
  ForEachInstructionSet([](const std::string& name) {
    SCOPED_TRACE(name);
    ForEachMap([](const OpInfo& op, DType dtype) {
      for (const int64_t count : kAwkwardSizes) ExpectAsNaive({&op, dtype, count, {}, count % 7});
    });
  });
}

TEST(MapTest, IntegersAboveFloat64StayExact) {
  const auto product = [](DType dtype, const Scalar& a) {
    const uint64_t one = 1;
    const uint64_t zero = 0;
    uint64_t out = 0;
    RunOne(support::OneOp({*FindOp("axpy"), dtype}, {&one, &zero}, {&out, 1}, {a}));
    return out;
  };
  const int64_t odd = (int64_t{1} << 53) + 1;
  for (const int64_t a : {odd, -odd, INT64_MAX, INT64_MIN + 1}) {
    EXPECT_EQ(static_cast<int64_t>(product(DType::kInt64, a)), a);
  }
  EXPECT_EQ(product(DType::kUint64, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(product(DType::kUint64, odd), static_cast<uint64_t>(odd));
}

TEST(MapTest, OneElementInputsAreSpread) {
  ForEachMap([](const OpInfo& op, DType dtype) {
    for (const int64_t count : {int64_t{1}, int64_t{33}, int64_t{9000}}) {
      ExpectAsNaive({&op, dtype, count, {true, false}, 1});
      ExpectAsNaive({&op, dtype, count, {false, true}, 0});
      ExpectAsNaive({&op, dtype, count, {true, true}, 3});
    }
  });
}

TEST(MapTest, StreamingStoresWriteTheSameBits) {
  ForEachInstructionSet([](const std::string& name) {
    SCOPED_TRACE(name);
    ForEachMap([](const OpInfo& op, DType dtype) {
      for (const int64_t count : kAwkwardSizes) {
        ExpectAsNaive({&op, dtype, count, {}, count % 7, Stores::kStreaming});
        ExpectAsNaive({&op, dtype, count, {true, false}, 0, Stores::kStreaming});
      }
    });
  });
}

TEST(MapTest, TheOutputMayBeAnInput) {
  ForEachMap([](const OpInfo& op, DType dtype) {
    for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
      for (size_t in_place = 0; in_place < 2; ++in_place) {
        const Case c = {&op, dtype, 5001, {}, 1, stores};
        std::array<Bytes, 2> inputs = InputsOf(c);
        const Bytes expected = Expected(c, inputs);
        RunOne(KernelOf(c, inputs[0].data(), inputs[1].data(), inputs[in_place].data()), stores);
        EXPECT_TRUE(inputs[in_place] == expected) << c.Describe();
      }
    }
  });
}

TEST(MapTest, AnArrayCutIntoPiecesGivesTheSameBits) {
  const Case c = {FindOp("axpy"), DType::kFloat16, 10'000};
  const std::array<Bytes, 2> inputs = InputsOf(c);
  Bytes out(20'000);
  const support::OneKernel whole = KernelOf(c, inputs[0].data(), inputs[1].data(), out.data());
  for (int64_t begin = 0; begin < c.count;) {
    const int64_t end = std::min(c.count, begin + 1 + begin % 1777);
    RunMap(whole.kernel, whole.args(), {begin, end});
    begin = end;
  }
  EXPECT_TRUE(out == Expected(c, inputs));
}

TEST(MapTest, NoElementsTouchNothing) {
  for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
    RunOne(
        support::OneOp({*FindOp("axpy"), DType::kFloat32}, {nullptr, nullptr}, {nullptr, 0}, {3.0}),
        stores);
  }
}

// What only passes through is not looked at: not even a NaN changes.
TEST(MapTest, TheIdentityGivesEveryByteBack) {
  for (const DType dtype : kAllDTypes) {
    for (const int64_t count : kAwkwardSizes) {
      const Bytes input = RandomArray(dtype, count, Fill::kAwkward, 3);
      Bytes out(input.size());
      support::OneKernel one;
      one.kernel = IdentityKernel(dtype);
      one.inputs = {{.data = input.data(), .axes = {}, .single = false}};
      one.outputs = {out.data()};
      one.count = count;
      RunOne(one, count % 2 == 0 ? Stores::kCached : Stores::kStreaming);
      EXPECT_TRUE(out == input) << Name(dtype) << count;
    }
  }
}

TEST(MapDeathTest, WhatThePlannerShouldHaveRefusedIsOurFault) {
  EXPECT_DEATH(OpKernel(*FindOp("axpy"), DType::kBool), "check failed");
  EXPECT_DEATH(OpKernel(*FindOp("sum"), DType::kInt64), "check failed");
  support::OneKernel one =
      support::OneOp({*FindOp("axpy"), DType::kFloat32}, {nullptr, nullptr}, {nullptr, 1}, {3.0});
  one.scalars.clear();
  EXPECT_DEATH(RunOne(one), "check failed");
}

}  // namespace
}  // namespace shoal::kernels::cpu
