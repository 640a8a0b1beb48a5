#pragma once

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstring>
#include <string>
#include <tuple>
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
concept Real = std::floating_point<T> || std::integral<T>;

template <class T>
concept Whole = std::integral<T> || std::same_as<T, Bool8>;

/// One reference made of several, for the classes of dtypes that an op takes.
template <class... References>
struct Overloaded : References... {
  using References::operator()...;
};
template <class... References>
Overloaded(References...) -> Overloaded<References...>;

/// Awkward elements; for dtypes of one byte also, as operands 0 and 1, every pair there is.
template <class T>
std::vector<T> Elements(DType dtype, size_t operand) {
  const auto index = static_cast<uint64_t>(operand);
  const Bytes bytes = RandomArray(dtype, kCaseCount, Fill::kAwkward, 11 + index);
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  if (operand == 1) {  // Every eighth pair is of equal elements.
    const std::vector<T> first = Elements<T>(dtype, 0);
    for (size_t i = 0; i < elements.size(); i += 8) elements[i] = first[i];
  }
  if constexpr (std::integral<T> && sizeof(T) == 1) {
    for (int pair = 0; pair < 256 * 256; ++pair) {
      elements.push_back(static_cast<T>(operand == 0 ? pair / 256 : pair % 256));
    }
  }
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
      RunMap(made.kernel, made.args(), {0, made.count}, stores);
      for (size_t i = 0; i < out.size(); ++i) {
        if (IsSame(out[i], reference(i))) continue;
        ADD_FAILURE() << made.kernel.steps[0].op->name << " of "
                      << kernels::Name(made.kernel.steps[0].dtype) << ", element " << i << ", "
                      << name;
        break;
      }
    }
  });
}

/// One dtype of an op whose operands are of that dtype, or, the first, a condition.
template <class First, class T, class Reference, size_t... kRest>
void ExpectOfDType(const OpInfo& op, DType dtype, const Reference& reference,
                   std::index_sequence<kRest...>) {
  const DType first = op.condition ? DType::kBool : dtype;
  const std::tuple operands = {Elements<First>(first, 0), Elements<T>(dtype, kRest + 1)...};
  const auto at = [&](size_t i) {
    return reference(std::get<0>(operands)[i], std::get<kRest + 1>(operands)[i]...);
  };
  using R = decltype(at(0));
  static_assert(std::is_trivially_copyable_v<R>);
  ASSERT_EQ(static_cast<int64_t>(sizeof(R)), ItemBytes(OutputDType(op, dtype))) << op.name;
  std::vector<R> out(std::get<0>(operands).size());
  ExpectOp(support::OneOp({op, dtype},
                          {std::get<0>(operands).data(), std::get<kRest + 1>(operands).data()...},
                          {out.data(), static_cast<int64_t>(out.size())}),
           out, at);
}

template <class Reference, size_t kInputs, class First, class T>
inline constexpr bool kTakes = kInputs == 1   ? std::is_invocable_v<Reference, First>
                               : kInputs == 2 ? std::is_invocable_v<Reference, First, T>
                                              : std::is_invocable_v<Reference, First, T, T>;

/// `references`, one of which takes the operands of each dtype of the op's row; halves are left to
/// ArithmeticTest.HalvesAreTheFloatsRounded.
template <size_t kInputs, bool kCondition = false, class... References>
void ExpectOfAll(const char* name, References... references) {
  const Overloaded reference{references...};
  const OpInfo& op = *FindOp(name);
  ASSERT_EQ(static_cast<size_t>(op.inputs_max), kInputs) << name;
  for (const DType dtype : kAllDTypes) {
    if (!op.Supports(dtype) || IsHalf(dtype)) continue;
    ForDType(dtype, [&]<DType kDType>() {
      using T = Element<kDType>;
      using First = std::conditional_t<kCondition, Bool8, T>;
      if constexpr (kTakes<Overloaded<References...>, kInputs, First, T>) {
        ExpectOfDType<First, T>(op, dtype, reference, std::make_index_sequence<kInputs - 1>());
      } else {
        ADD_FAILURE() << name << " of " << Name(dtype) << " has no reference";
      }
    });
  }
}

template <class... References>
void ExpectUnary(const char* name, References... references) {
  ExpectOfAll<1>(name, references...);
}
template <class... References>
void ExpectBinary(const char* name, References... references) {
  ExpectOfAll<2>(name, references...);
}

}  // namespace shoal::kernels::cpu
