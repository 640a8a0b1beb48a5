#include "kernels/program/numbers.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

namespace shoal::kernels::program {
namespace {

__extension__ using Int128 = __int128;

bool AreAll(absl::Span<const Value> operands, WeakKind greatest) {
  for (const Value& operand : operands) {
    if (operand.node >= 0 || *operand.weak > greatest) return false;
  }
  return !operands.empty();
}

Int128 Whole(const Value& value) {
  if (const auto* number = std::get_if<uint64_t>(&value.number)) return *number;
  return std::get<int64_t>(value.number);
}

std::optional<Value> WholeValue(Int128 number) {
  if (number < std::numeric_limits<int64_t>::min()) return std::nullopt;
  if (number <= std::numeric_limits<int64_t>::max()) {
    return GraphBuilder::Number(static_cast<int64_t>(number), WeakKind::kInt);
  }
  if (number > std::numeric_limits<uint64_t>::max()) return std::nullopt;
  return GraphBuilder::Number(static_cast<uint64_t>(number), WeakKind::kInt);
}

// x to a whole power, as Python has it; only those that fit are of interest, which ends the loop.
std::optional<Value> FoldPower(Int128 x, Int128 exponent) {
  if (exponent < 0) return std::nullopt;
  if (x == 0 || x == 1) return WholeValue(exponent == 0 ? 1 : x);
  if (x == -1) return WholeValue(exponent % 2 == 0 ? 1 : -1);
  if (exponent > 64) return std::nullopt;
  Int128 power = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(power, x, &power)) return std::nullopt;
  }
  return WholeValue(power);
}

std::optional<Value> FoldWhole(std::string_view op, absl::Span<const Value> operands) {
  const Int128 x = Whole(operands[0]);
  if (op == "negative") return WholeValue(-x);
  if (op == "positive") return WholeValue(x);
  if (operands.size() != 2) return std::nullopt;
  const Int128 y = Whole(operands[1]);
  if (op == "add") return WholeValue(x + y);
  if (op == "subtract") return WholeValue(x - y);
  if (op == "power") return FoldPower(x, y);
  if (op != "multiply") return std::nullopt;
  Int128 product = 0;
  return __builtin_mul_overflow(x, y, &product) ? std::nullopt : WholeValue(product);
}

std::optional<Value> FoldFloat(std::string_view op, absl::Span<const Value> operands) {
  const auto value = [](double number) { return GraphBuilder::Number(number, WeakKind::kFloat); };
  const double x = ToDouble(operands[0].number);
  if (op == "negative") return value(-x);
  if (op == "positive") return value(x);
  if (operands.size() != 2) return std::nullopt;
  const double y = ToDouble(operands[1].number);
  if (op == "add") return value(x + y);
  if (op == "subtract") return value(x - y);
  if (op == "multiply") return value(x * y);
  if (op == "divide") return value(x / y);
  return std::nullopt;
}

}  // namespace

std::optional<Value> FoldNumbers(const OpInfo& op, absl::Span<const Value> operands) {
  if (AreAll(operands, WeakKind::kInt) && op.name != "divide") return FoldWhole(op.name, operands);
  if (AreAll(operands, WeakKind::kFloat)) return FoldFloat(op.name, operands);
  return std::nullopt;
}

}  // namespace shoal::kernels::program
