#include "kernels/registry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/op_table.h"

namespace shoal::kernels {
namespace {

constexpr uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: short names, no seed needed, constexpr.
  for (const char c : name) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3U;
  }
  return hash ^ hash >> 32;
}

// Open addressing, at most half full, built by the compiler.
constexpr size_t kSlotCount = std::bit_ceil(2 * kOpCount);
constexpr auto kSlots = [] {
  std::array<int16_t, kSlotCount> slots = {};
  slots.fill(-1);
  for (size_t i = 0; i < kOpCount; ++i) {
    size_t slot = HashName(kOpTable[i].name) % kSlotCount;
    while (slots[slot] >= 0) slot = (slot + 1) % kSlotCount;
    slots[slot] = static_cast<int16_t>(i);
  }
  return slots;
}();

std::string NamesOf(uint32_t dtypes) {
  std::string names;
  for (const DType dtype : kAllDTypes) {
    if ((dtypes >> static_cast<int>(dtype) & 1U) == 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(Name(dtype)));
  }
  return names;
}

DType Promoted(Promotion promotion, DType dtype) {
  const bool whole = ClassOf(dtype) != DTypeClass::kFloat && ClassOf(dtype) != DTypeClass::kComplex;
  switch (promotion) {
    case Promotion::kNone:
      return dtype;
    case Promotion::kNumber:
      return dtype == DType::kBool ? DType::kInt8 : dtype;
    case Promotion::kFloat:
      if (!whole) return dtype;
      return ItemBytes(dtype) <= 2 ? DType::kFloat32 : DType::kFloat64;
    case Promotion::kTrueDivide:
      return whole ? DType::kFloat64 : dtype;
  }
  SHOAL_UNREACHABLE("promotion out of range");
}

// Whether a number is one of an integer dtype's values.
struct IsInteger {
  DType dtype;

  static_assert(std::all_of(kAllDTypes.begin(), kAllDTypes.end(),
                            [](DType d) {
                              const bool whole = IsSignedInteger(d) || IsUnsignedInteger(d);
                              return !whole || ItemBytes(d) <= 8;
                            }),
                "parameters hold integers of 64 bits");

  int Bits() const { return static_cast<int>(8 * ItemBytes(dtype)); }
  bool Signed() const { return IsSignedInteger(dtype); }

  bool operator()(double value) const {
    const double least = Signed() ? -std::ldexp(1.0, Bits() - 1) : 0.0;
    // The first value above the range: exact in float64, unlike 2^64 - 1.
    const double beyond = std::ldexp(1.0, Signed() ? Bits() - 1 : Bits());
    return std::trunc(value) == value && value >= least && value < beyond;
  }
  bool operator()(std::complex<double> value) const {
    return value.imag() == 0 && (*this)(value.real());
  }
  bool operator()(uint64_t value) const {
    const uint64_t greatest = ~uint64_t{0} >> (Signed() ? 65 - Bits() : 64 - Bits());
    return value <= greatest;
  }
  bool operator()(int64_t value) const {
    if (value >= 0) return (*this)(static_cast<uint64_t>(value));
    return Signed() && value >= std::numeric_limits<int64_t>::min() >> (64 - Bits());
  }
};

std::string LimitsOf(DType dtype) {
  const int bits = static_cast<int>(8 * ItemBytes(dtype));
  if (IsSignedInteger(dtype)) return absl::StrCat("-2^", bits - 1, " to 2^", bits - 1, " - 1");
  return absl::StrCat("0 to 2^", bits, " - 1");
}

struct Text {
  std::string operator()(std::complex<double> value) const {
    return absl::StrCat("(", value.real(), " + ", value.imag(), "j)");
  }
  template <class T>
  std::string operator()(T value) const {
    return absl::StrCat(value);
  }
};

absl::Status ValidateElement(const OpInfo& op, const ParamInfo& param, DType dtype,
                             const Scalar& value) {
  if (IsValueOf(dtype, value)) return absl::OkStatus();
  const std::string text = std::visit(Text(), value);
  return absl::InvalidArgumentError(absl::StrCat("op '", std::string(op.name), "', parameter '",
                                                 std::string(param.name), "': ", text,
                                                 " is not a value of ", std::string(Name(dtype)),
                                                 " (a whole number from ", LimitsOf(dtype), ")"));
}

std::string ParamNamesOf(const OpInfo& op) {
  if (op.params.empty()) return "it takes none";
  std::string names = "it takes ";
  for (size_t i = 0; i < op.params.size(); ++i) {
    absl::StrAppend(&names, i == 0 ? "'" : ", '", std::string(op.params[i].name), "'");
  }
  return names;
}

absl::Status ParamError(const OpInfo& op, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("op '", std::string(op.name), "': ", what, "; ", ParamNamesOf(op)));
}

}  // namespace

std::span<const OpInfo> AllOps() { return kOpTable; }

const OpInfo* FindOp(std::string_view name) {
  for (size_t slot = HashName(name) % kSlotCount; kSlots[slot] >= 0;
       slot = (slot + 1) % kSlotCount) {
    const OpInfo& op = kOpTable[static_cast<size_t>(kSlots[slot])];
    if (op.name == name) return &op;
  }
  return nullptr;
}

int64_t IndexOf(const OpInfo& op) {
  const int64_t index = &op - kOpTable.data();
  SHOAL_CHECK(index >= 0 && index < static_cast<int64_t>(kOpCount));
  return index;
}

absl::StatusOr<DType> ComputeDType(const OpInfo& op, DType common) {
  const DType dtype = Promoted(op.promotion, common);
  if (op.Supports(dtype)) return dtype;
  return absl::UnimplementedError(absl::StrCat("op '", std::string(op.name), "' is not built for ",
                                               std::string(Name(common)), "; it is for ",
                                               NamesOf(op.dtypes)));
}

bool IsValueOf(DType dtype, const Scalar& number) {
  if (IsSignedInteger(dtype) || IsUnsignedInteger(dtype)) {
    return std::visit(IsInteger{dtype}, number);
  }
  const auto* complex = std::get_if<std::complex<double>>(&number);
  return IsComplex(dtype) || complex == nullptr || complex->imag() == 0;
}

absl::Status ValidateParams(const OpInfo& op, DType dtype, std::span<const Scalar> params) {
  if (params.size() != op.params.size()) {
    return ParamError(op, absl::StrCat(params.size(), " parameters given"));
  }
  for (size_t i = 0; i < params.size(); ++i) {
    switch (op.params[i].rule) {
      case ParamRule::kElement:
        SHOAL_RETURN_IF_ERROR(ValidateElement(op, op.params[i], dtype, params[i]));
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::kernels
