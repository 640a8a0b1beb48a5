#include "bench/kernels/judge.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace shoal::bench {
namespace {

using kernels::DType;
using Real = long double;

// SplitMix64: one step and three mixes a number, so that filling costs less than what is measured.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  /// In [0, 1), all 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

template <typename T>
void Fill(const ValueRange& range, uint64_t seed, const ElementMemory& memory) {
  Random random(seed);
  for (int64_t i = 0; i < memory.count; ++i) {
    const double value = range.low + (range.high - range.low) * random.Uniform();
    // Rounding may reach the end of the range, which is not in it.
    const T element = std::min(static_cast<T>(value), static_cast<T>(range.high));
    std::memcpy(memory.data + i * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
  }
}

template <typename T>
Real Read(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<Real>(value);
}

// A float's last place around `wanted`.
template <typename T>
Real LastPlace(Real wanted) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kExponentMin = std::numeric_limits<T>::min_exponent - 1;
  const int exponent = wanted == 0 ? kExponentMin : std::max(std::ilogb(wanted), kExponentMin);
  return std::ldexp(Real{1}, exponent - (kDigits - 1));
}

template <typename T>
double FloatError(Real value, Real wanted) {
  if (std::isnan(value) || std::isnan(wanted)) {
    return std::isnan(value) && std::isnan(wanted) ? 0 : HUGE_VAL;
  }
  const Real largest = std::numeric_limits<T>::max();
  // What is out of range is right as an infinity.
  if (std::isinf(value)) {
    return std::signbit(value) == std::signbit(wanted) && std::abs(wanted) > largest ? 0 : HUGE_VAL;
  }
  if (std::isinf(wanted)) return HUGE_VAL;
  return static_cast<double>(std::abs(value - wanted) / LastPlace<T>(wanted));
}

// Neumaier's sum: what each addition loses is summed beside it.
class Sum {
 public:
  void Add(Real term) {
    const Real next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  Real Value() const { return sum_ + lost_; }

 private:
  Real sum_ = 0;
  Real lost_ = 0;
};

void Note(double error, double error_max, Verdict* verdict) {
  verdict->ulps = std::max(verdict->ulps, error);
  if (!(error <= error_max)) ++verdict->wrong;
}

Real SecondOf(const std::vector<Elements>& inputs, int64_t index) {
  return inputs.size() > 1 ? ElementAt(inputs[1], index) : 0;
}

Verdict JudgeMap(const KernelCase& which, const std::vector<Elements>& inputs,
                 const Elements& result) {
  Verdict verdict;
  for (int64_t i = 0; i < result.count; ++i) {
    const Real wanted = which.reference(ElementAt(inputs[0], i), SecondOf(inputs, i));
    Note(ErrorInUlps(result.dtype, ElementAt(result, i), wanted), which.ulps_max, &verdict);
  }
  return verdict;
}

Verdict JudgeReduce(const KernelCase& which, const std::vector<Elements>& inputs,
                    const Elements& result) {
  Sum terms;
  Sum values;
  for (int64_t i = 0; i < inputs[0].count; ++i) {
    const Real x = ElementAt(inputs[0], i);
    terms.Add(which.reference(x, SecondOf(inputs, i)));
    values.Add(x);
  }
  const ReferenceSums sums{terms.Value(), values.Value(), static_cast<Real>(inputs[0].count)};
  const Real wanted = which.finish == nullptr ? sums.terms : which.finish(sums);
  Verdict verdict;
  Note(ErrorInUlps(result.dtype, ElementAt(result, 0), wanted), which.ulps_max, &verdict);
  return verdict;
}

template <typename T>
Verdict JudgeSortOf(const Elements& input, const Elements& result) {
  std::vector<T> sorted(static_cast<size_t>(input.count));
  std::memcpy(sorted.data(), input.data, sorted.size() * sizeof(T));
  std::sort(sorted.begin(), sorted.end());
  Verdict verdict;
  for (int64_t i = 0; i < result.count; ++i) {
    const auto wanted = static_cast<Real>(sorted[static_cast<size_t>(i)]);
    if (ElementAt(result, i) != wanted) ++verdict.wrong;
  }
  return verdict;
}

Verdict JudgeSort(const Elements& input, const Elements& result) {
  switch (input.dtype) {
    case DType::kFloat32:
      return JudgeSortOf<float>(input, result);
    case DType::kFloat64:
      return JudgeSortOf<double>(input, result);
    case DType::kInt32:
      return JudgeSortOf<int32_t>(input, result);
    case DType::kInt64:
      return JudgeSortOf<int64_t>(input, result);
    default:
      SHOAL_UNREACHABLE("no case has such elements");
  }
}

}  // namespace

void FillUniform(const ValueRange& range, uint64_t seed, const ElementMemory& memory) {
  switch (memory.dtype) {
    case DType::kFloat32:
      return Fill<float>(range, seed, memory);
    case DType::kFloat64:
      return Fill<double>(range, seed, memory);
    case DType::kInt32:
      return Fill<int32_t>(range, seed, memory);
    case DType::kInt64:
      return Fill<int64_t>(range, seed, memory);
    default:
      SHOAL_UNREACHABLE("no case has such elements");
  }
}

bool IsJudged(DType dtype) {
  const int64_t bytes = kernels::ItemBytes(dtype);
  return dtype == DType::kBool || (!kernels::IsComplex(dtype) && (bytes == 4 || bytes == 8));
}

Real ElementAt(const Elements& elements, int64_t index) {
  switch (elements.dtype) {
    case DType::kBool:
      return elements.data[index] == std::byte{0} ? 0 : 1;
    case DType::kFloat32:
      return Read<float>(elements.data, index);
    case DType::kFloat64:
      return Read<double>(elements.data, index);
    case DType::kInt32:
      return Read<int32_t>(elements.data, index);
    case DType::kInt64:
      return Read<int64_t>(elements.data, index);
    case DType::kUint32:
      return Read<uint32_t>(elements.data, index);
    case DType::kUint64:
      return Read<uint64_t>(elements.data, index);
    default:
      SHOAL_UNREACHABLE("no case has such elements");
  }
}

double ErrorInUlps(DType dtype, Real value, Real wanted) {
  if (dtype == DType::kFloat32) return FloatError<float>(value, wanted);
  if (dtype == DType::kFloat64) return FloatError<double>(value, wanted);
  return value == wanted ? 0 : HUGE_VAL;
}

Verdict JudgeResult(const KernelCase& which, const std::vector<Elements>& inputs,
                    const Elements& result) {
  SHOAL_CHECK(static_cast<int>(inputs.size()) == which.inputs);
  switch (which.form) {
    case CaseForm::kMap:
      return JudgeMap(which, inputs, result);
    case CaseForm::kReduce:
      return JudgeReduce(which, inputs, result);
    case CaseForm::kSort:
      return JudgeSort(inputs[0], result);
  }
  SHOAL_UNREACHABLE("form out of range");
}

Verdict CompareResults(const Elements& ours, const Elements& other, double ulps_max) {
  if (ours.count != other.count) return {HUGE_VAL, std::max(ours.count, other.count)};
  const int64_t bytes = ours.count * kernels::ItemBytes(ours.dtype);
  if (ours.dtype == other.dtype &&
      std::memcmp(ours.data, other.data, static_cast<size_t>(bytes)) == 0) {
    return {};
  }
  Verdict verdict;
  for (int64_t i = 0; i < ours.count; ++i) {
    Note(ErrorInUlps(ours.dtype, ElementAt(other, i), ElementAt(ours, i)), ulps_max, &verdict);
  }
  return verdict;
}

}  // namespace shoal::bench
