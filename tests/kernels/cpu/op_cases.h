#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/element.h"
#include "kernels/cpu/for_dtype.h"
#include "kernels/cpu/map.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

// Ops compared, element by element, with a function of plain C++ values: on every instruction set,
// with ordinary and streaming stores.
namespace shoal::kernels::cpu {

inline constexpr int64_t kCaseCount = 1037;

template <class T>
std::vector<T> RandomElements(DType dtype, uint64_t seed) {
  const Bytes bytes = RandomArray(dtype, kCaseCount, Fill::kAwkward, seed);
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

/// Equal bits; any NaN of the expected value stands for the canonical one.
template <class R>
bool IsSame(R seen, R expected) {
  const R canonical = Canonical(expected);
  return std::memcmp(&seen, &canonical, sizeof(R)) == 0;
}

template <class R, class Reference>
void ExpectOp(const support::OneKernel& made, std::vector<R>& out, Reference reference) {
  ForEachInstructionSet([&](const std::string& name) {
    for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
      std::memset(static_cast<void*>(out.data()), 0x5a, out.size() * sizeof(R));
      RunMap(made.kernel, made.args(), {0, kCaseCount}, stores);
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_TRUE(IsSame(out[i], reference(i)))
            << std::string(made.kernel.steps[0].op->name) << " of "
            << std::string(kernels::Name(made.kernel.steps[0].dtype)) << ", element " << i << ", "
            << name;
      }
    }
  });
}

/// `reference(x)` for each dtype of the mask whose elements lie in memory as they are computed.
template <class Reference>
void ExpectUnary(const char* name, Reference reference) {
  const OpInfo& op = *FindOp(name);
  for (const DType dtype : kAllDTypes) {
    if (!op.Supports(dtype) || IsHalf(dtype)) continue;
    ForDType(dtype, [&]<DType kDType>() {
      using T = Element<kDType>;
      if constexpr (std::is_invocable_v<Reference, T>) {
        using R = std::invoke_result_t<Reference, T>;
        const std::vector<T> x = RandomElements<T>(dtype, 11);
        std::vector<R> out(x.size());
        ExpectOp(support::OneOp(op, dtype, {x.data()}, out.data(), kCaseCount), out,
                 [&](size_t i) { return reference(x[i]); });
      }
    });
  }
}

/// The same for `reference(x, y)`; every eighth pair is of equal elements.
template <class Reference>
void ExpectBinary(const char* name, Reference reference) {
  const OpInfo& op = *FindOp(name);
  for (const DType dtype : kAllDTypes) {
    if (!op.Supports(dtype) || IsHalf(dtype)) continue;
    ForDType(dtype, [&]<DType kDType>() {
      using T = Element<kDType>;
      if constexpr (std::is_invocable_v<Reference, T, T>) {
        using R = std::invoke_result_t<Reference, T, T>;
        const std::vector<T> x = RandomElements<T>(dtype, 11);
        std::vector<T> y = RandomElements<T>(dtype, 12);
        for (size_t i = 0; i < y.size(); i += 8) y[i] = x[i];
        std::vector<R> out(x.size());
        ExpectOp(support::OneOp(op, dtype, {x.data(), y.data()}, out.data(), kCaseCount), out,
                 [&](size_t i) { return reference(x[i], y[i]); });
      }
    });
  }
}

template <class T>
concept Real = std::floating_point<T> || std::integral<T>;

}  // namespace shoal::kernels::cpu
