#include "shoal/dtype.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"

namespace shoal {
namespace {

constexpr size_t kRankMax = 32;

absl::Status BadShape(const Shape& shape, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("shape (", absl::StrJoin(shape, ", "), ") ", why));
}

}  // namespace

namespace internal {

void NoSuchDtype() { SHOAL_UNREACHABLE("not one of shoal::Dtype"); }

}  // namespace internal

float ToFloat(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1F;
  const uint32_t fraction = value.bits & 0x3FF;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

float ToFloat(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

int64_t ItemBytes(Dtype dtype) {
  const internal::DtypeEntry* entry = internal::FindDtype(dtype);
  return entry == nullptr ? 0 : entry->item_bytes;
}

absl::string_view DtypeName(Dtype dtype) {
  const internal::DtypeEntry* entry = internal::FindDtype(dtype);
  return entry == nullptr ? absl::string_view() : entry->name;
}

std::optional<Dtype> DtypeByName(absl::string_view name) {
  for (const internal::DtypeEntry& entry : internal::kDtypeEntries) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

absl::StatusOr<int64_t> ElementCount(const Shape& shape) {
  if (shape.size() > kRankMax) return BadShape(shape, "has more than 32 axes");
  // Judged without the zeros, as the server does, so that both ends refuse the same shapes.
  int64_t product = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return BadShape(shape, "has a negative extent");
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product)) {
      return BadShape(shape, "has 2^63 elements or more");
    }
  }
  return empty ? 0 : product;
}

absl::StatusOr<int64_t> ByteCount(Dtype dtype, const Shape& shape) {
  if (internal::FindDtype(dtype) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(static_cast<int>(dtype), " is no dtype"));
  }
  absl::StatusOr<int64_t> count = ElementCount(shape);
  if (!count.ok()) return count.status();
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*count, ItemBytes(dtype), &bytes)) {
    return BadShape(shape, "has 2^63 bytes or more");
  }
  return bytes;
}

}  // namespace shoal
