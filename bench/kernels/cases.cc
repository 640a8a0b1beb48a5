#include "bench/kernels/cases.h"

#include <algorithm>
#include <cmath>

namespace shoal::bench {
namespace {

using kernels::DType;
using Real = long double;

const std::vector<DType> kFloats = {DType::kFloat32, DType::kFloat64};
const std::vector<DType> kIntegers = {DType::kInt32, DType::kInt64};
const std::vector<DType> kNumbers = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                                     DType::kInt64};

constexpr ValueRange kSigned = {-1000, 1000};
constexpr Real kParameter = kCaseParameter;

// Sums are of positive numbers, or the last place of the result would say nothing of the error.
// Orders of addition differ: NumPy's is its own.
constexpr double kSumUlps = 32;
constexpr double kSumNumpyUlps = 64;

Real Floor(Real x, Real y) { return std::floor(x / y); }

KernelCase Map(const char* name, const char* program, int inputs,
               Real (*reference)(Real x, Real y)) {
  KernelCase made;
  made.name = name;
  made.program = program;
  made.inputs = inputs;
  made.dtypes = kFloats;
  made.x = kSigned;
  made.y = kSigned;
  made.reference = reference;
  return made;
}

KernelCase Of(std::vector<DType> dtypes, KernelCase made) {
  made.dtypes = std::move(dtypes);
  return made;
}

KernelCase In(const ValueRange& x, const ValueRange& y, KernelCase made) {
  made.x = x;
  made.y = y;
  return made;
}

KernelCase Within(double ulps, KernelCase made) {
  made.ulps_max = ulps;
  return made;
}

KernelCase Reduce(const char* name, const char* program, int inputs, Real (*term)(Real x, Real y)) {
  KernelCase made = In({}, {}, Map(name, program, inputs, term));
  made.form = CaseForm::kReduce;
  made.ulps_max = kSumUlps;
  made.numpy_ulps_max = kSumNumpyUlps;
  return made;
}

KernelCase Finished(Real (*finish)(const ReferenceSums& sums), KernelCase made) {
  made.finish = finish;
  return made;
}

// A function that is not made of the four operations: nobody's is rounded right everywhere.
KernelCase Transcendental(const ValueRange& x, KernelCase made) {
  made.x = x;
  made.ulps_max = 4;
  made.numpy_ulps_max = 8;
  made.optional = true;
  return made;
}

KernelCase Sort() {
  KernelCase made = Map("sort", "sort(x)", 1, nullptr);
  made.form = CaseForm::kSort;
  made.dtypes = kNumbers;
  return made;
}

void AddArithmetic(std::vector<KernelCase>* cases) {
  cases->push_back(Map("copy", "x", 1, [](Real x, Real) { return x; }));
  cases->push_back(Of(kNumbers, Map("add", "x + y", 2, [](Real x, Real y) { return x + y; })));
  cases->push_back(Map("multiply", "x * y", 2, [](Real x, Real y) { return x * y; }));
  cases->push_back(
      In(kSigned, {1, 1000}, Map("divide", "x / y", 2, [](Real x, Real y) { return x / y; })));
  cases->push_back(
      In({0, 1000}, {}, Map("sqrt", "sqrt(x)", 1, [](Real x, Real) { return std::sqrt(x); })));
  // Positive, so that nothing cancels and the last place stays a measure of the error.
  KernelCase axpy =
      Within(2, In({1, 1000}, {1, 1000},
                   Map("axpy", "a*x + y", 2, [](Real x, Real y) { return kParameter * x + y; })));
  axpy.parameter = true;
  cases->push_back(axpy);
  cases->push_back(Within(2, Map("hypot", "sqrt(x*x + y*y)", 2,
                                 [](Real x, Real y) { return std::sqrt(x * x + y * y); })));
  cases->push_back(Within(4, In({2, 4}, {}, Map("cubic", "x*x*x - 2*x + 1", 1, [](Real x, Real) {
                                  return x * x * x - 2 * x + 1;
                                }))));
  cases->push_back(Map("rint", "rint(x)", 1, [](Real x, Real) { return std::nearbyint(x); }));
}

void AddChoices(std::vector<KernelCase>* cases) {
  cases->push_back(
      Map("where", "where(x > y, x, y)", 2, [](Real x, Real y) { return x > y ? x : y; }));
  cases->push_back(
      Map("maximum", "maximum(x, y)", 2, [](Real x, Real y) { return std::max(x, y); }));
  cases->push_back(Map("greater", "x > y", 2, [](Real x, Real y) { return x > y ? Real{1} : 0; }));
  cases->push_back(Map("both", "(x > 0) & (y > 0)", 2,
                       [](Real x, Real y) { return x > 0 && y > 0 ? Real{1} : 0; }));
  cases->push_back(Of(kIntegers, In(kSigned, {1, 100}, Map("floor_divide", "x // y", 2, &Floor))));
  cases->push_back(
      Of(kIntegers, In(kSigned, {1, 100}, Map("remainder", "x % y", 2, [](Real x, Real y) {
                         return x - y * Floor(x, y);
                       }))));
}

void AddConversions(std::vector<KernelCase>* cases) {
  const auto same = [](Real x, Real) { return x; };
  cases->push_back(Of({DType::kFloat32, DType::kInt32}, Map("to_float64", "float64(x)", 1, same)));
  cases->push_back(Of({DType::kFloat64, DType::kInt32}, Map("to_float32", "float32(x)", 1, same)));
  cases->push_back(Map("to_int32", "int32(x)", 1, [](Real x, Real) { return std::trunc(x); }));
}

void AddReductions(std::vector<KernelCase>* cases) {
  const auto first = [](Real x, Real) { return x; };
  const auto product = [](Real x, Real y) { return x * y; };
  const auto square = [](Real x, Real) { return x * x; };
  // The sum of as many int32 as there may be fits one, which is what numexpr makes of it.
  cases->push_back(Of(kNumbers, In({1, 10}, {}, Reduce("sum", "sum(x)", 1, first))));
  cases->push_back(Reduce("dot", "dot(x, y)", 2, product));
  cases->push_back(Reduce("sum_of_products", "sum(x*y)", 2, product));
  cases->push_back(Finished([](const ReferenceSums& sums) { return sums.terms / sums.count; },
                            Reduce("mean", "mean(x)", 1, first)));
  cases->push_back(Finished([](const ReferenceSums& sums) { return std::sqrt(sums.terms); },
                            Reduce("norm", "norm(x)", 1, square)));
  cases->push_back(Finished(
      [](const ReferenceSums& sums) {
        const Real mean = sums.x / sums.count;
        return std::sqrt(sums.terms / sums.count - mean * mean);
      },
      Reduce("std", "std(x)", 1, square)));
  cases->push_back(Sort());
}

void AddTranscendentals(std::vector<KernelCase>* cases) {
  // Rounding -x*x moves exp by as many units as the exponent is large.
  cases->push_back(Within(8, Transcendental({-2, 2}, Map("exp", "exp(-x*x)", 1, [](Real x, Real) {
                                              return std::exp(-x * x);
                                            }))));
  cases->push_back(Transcendental(
      {-100, 100}, Map("sin", "sin(x)", 1, [](Real x, Real) { return std::sin(x); })));
  cases->push_back(Transcendental(
      {0.01, 100}, Map("log", "log(x)", 1, [](Real x, Real) { return std::log(x); })));
  cases->push_back(Transcendental(
      {-4, 4}, Map("tanh", "tanh(x)", 1, [](Real x, Real) { return std::tanh(x); })));
  cases->push_back(Transcendental(
      {0.5, 4},
      In({}, {-8, 8}, Map("power", "x**y", 2, [](Real x, Real y) { return std::pow(x, y); }))));
  cases->push_back(
      Transcendental({-3, 3}, Map("erf", "erf(x)", 1, [](Real x, Real) { return std::erf(x); })));
}

std::vector<KernelCase> MakeCases() {
  std::vector<KernelCase> cases;
  AddArithmetic(&cases);
  AddChoices(&cases);
  AddConversions(&cases);
  AddReductions(&cases);
  AddTranscendentals(&cases);
  return cases;
}

}  // namespace

absl::Span<const KernelCase> AllCases() {
  static const auto* const kCases = new std::vector<KernelCase>(MakeCases());
  return *kCases;
}

const KernelCase* FindCase(const std::string& name) {
  for (const KernelCase& which : AllCases()) {
    if (which.name == name) return &which;
  }
  return nullptr;
}

bool Supports(const KernelCase& which, DType dtype) {
  return std::find(which.dtypes.begin(), which.dtypes.end(), dtype) != which.dtypes.end();
}

}  // namespace shoal::bench
