#pragma once

#include <cstdint>
#include <vector>

#include "bench/kernels/cases.h"
#include "kernels/dtype.h"

namespace shoal::bench {

/// Elements in memory of this process.
struct Elements {
  kernels::DType dtype = kernels::DType::kFloat32;
  const std::byte* data = nullptr;
  int64_t count = 0;
};

/// What a comparison found.
struct Verdict {
  double ulps = 0;    ///< The largest error of a float, in units of its last place.
  int64_t wrong = 0;  ///< Elements that are further off than they may be.
};

/// Memory for elements.
struct ElementMemory {
  kernels::DType dtype = kernels::DType::kFloat32;
  std::byte* data = nullptr;
  int64_t count = 0;
};

/// Fills memory with values of the range that follow from the seed. bool is not supported.
void FillUniform(const ValueRange& range, uint64_t seed, const ElementMemory& memory);

/// Whether elements of that dtype can be judged: bool, and real ones of 32 or 64 bits.
bool IsJudged(kernels::DType dtype);

/// An element, exactly. Requires: IsJudged.
long double ElementAt(const Elements& elements, int64_t index);

/// How far `value` is from what it should be, in units of the last place that `dtype` has there.
/// Two NaNs are the same, infinities equal only themselves, and integers and bools are either
/// right (0) or infinitely wrong.
double ErrorInUlps(kernels::DType dtype, long double value, long double wanted);

/// A case's result against a reference in long double, element by element.
///
/// Requires: as many inputs as the case has, of one count; the result's count is theirs, or 1 for
/// kReduce.
Verdict JudgeResult(const KernelCase& which, const std::vector<Elements>& inputs,
                    const Elements& result);

/// Another's result against ours. Its dtype may be another one: ours says what an ulp is. All are
/// wrong where the counts differ.
Verdict CompareResults(const Elements& ours, const Elements& other, double ulps_max);

}  // namespace shoal::bench
