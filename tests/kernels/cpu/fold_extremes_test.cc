#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

namespace shoal::kernels::cpu {
namespace {

/// What minimum or maximum gives, applied from element to element.
Bytes OneByOne(const OpInfo& op, DType dtype, const Bytes& array, int64_t count) {
  const int64_t item = ItemBytes(dtype);
  Bytes best(array.begin(), array.begin() + item);
  for (int64_t i = 0; i < count; ++i) {
    const support::OneKernel one =
        support::OneOp({op, dtype}, {best.data(), array.data() + i * item}, {best.data(), 1});
    RunMap(one.kernel, one.args(), {0, 1});
  }
  return best;
}

TEST(FoldExtremesTest, AreMinimumAndMaximumOfAllElements) {
  for (const bool greatest : {false, true}) {
    const OpInfo& fold = *FindOp(greatest ? "max" : "min");
    const OpInfo& op = *FindOp(greatest ? "maximum" : "minimum");
    for (const DType dtype : kAllDTypes) {
      if (!fold.Supports(dtype)) continue;
      for (const Fill fill : {Fill::kAwkward, Fill::kFinite}) {
        for (const int64_t count : {1, 2, 31, 33, 4097, 9000}) {
          const Bytes array = RandomArray(dtype, count, fill, 7);
          Bytes seen(static_cast<size_t>(ItemBytes(dtype)));
          ForEachInstructionSet([&](const std::string& name) {
            ReduceAll(fold, {dtype, {array.data(), nullptr}, 0, count}, seen.data());
            EXPECT_TRUE(seen == OneByOne(op, dtype, array, count))
                << fold.name << " of " << count << " " << Name(dtype) << ", " << name;
          });
        }
      }
    }
  }
}

double Extreme(const char* op, const std::vector<double>& x) {
  double value = 0;
  const auto count = static_cast<int64_t>(x.size());
  ReduceAll(*FindOp(op), {DType::kFloat64, {x.data(), nullptr}, 0, count}, &value);
  return value;
}

TEST(FoldExtremesTest, ZerosAreOrderedAndOneNaNIsEnough) {
  std::vector<double> zeros(5000, 0.0);
  zeros[4999] = -0.0;
  EXPECT_TRUE(std::signbit(Extreme("min", zeros)));
  EXPECT_FALSE(std::signbit(Extreme("max", zeros)));
  zeros[77] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Extreme("min", zeros)));
  EXPECT_TRUE(std::isnan(Extreme("max", zeros)));
  const std::vector<double> infinite(40, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Extreme("max", infinite), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace shoal::kernels::cpu
