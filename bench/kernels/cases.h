#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/dtype.h"

namespace shoal::bench {

/// How the elements of a case's result come about.
enum class CaseForm : uint8_t {
  kMap,     ///< Each from the elements of the inputs at the same place.
  kReduce,  ///< One, from the sum of a term over all places.
  kSort,    ///< Those of x, in order.
};

/// Inputs are uniform in [low, high); whole numbers for integers.
struct ValueRange {
  double low = 1;
  double high = 2;
};

/// What a reduction sums, in more precision than any dtype has.
struct ReferenceSums {
  long double terms = 0;
  long double x = 0;
  long double count = 0;
};

/// A program that is measured, and how its results are judged.
struct KernelCase {
  std::string name;     ///< As flags, JSON and bench/peers/array_kernels.py have it.
  std::string program;  ///< Of `x`, and `y` where there are two inputs.
  CaseForm form = CaseForm::kMap;
  int inputs = 1;
  bool parameter = false;              ///< Reads `a`, which is kCaseParameter.
  std::vector<kernels::DType> dtypes;  ///< Of all its inputs.
  ValueRange x;
  ValueRange y;
  /// kMap: the element; kReduce: the term. Unused by kSort.
  long double (*reference)(long double x, long double y) = nullptr;
  long double (*finish)(const ReferenceSums& sums) = nullptr;  ///< Null: the sum of the terms.
  /// How far a float may be from the reference, in units of its last place. Whole numbers must be
  /// equal.
  double ulps_max = 0.502;
  double numpy_ulps_max = 0;  ///< And from NumPy's result. 0: the same bits.
  /// May be missing from the language: then a row says so. Of others that is an error.
  bool optional = false;
};

inline constexpr double kCaseParameter = 2.5;

/// All cases, in the order in which they are measured. Lives for ever.
absl::Span<const KernelCase> AllCases();

/// Null: there is none of that name.
const KernelCase* FindCase(const std::string& name);

bool Supports(const KernelCase& which, kernels::DType dtype);

}  // namespace shoal::bench
