#include "shoal/dtype.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace shoal {
namespace {

constexpr size_t kRankMax = 32;

struct Row {
  absl::string_view name;
  int64_t bytes;
};
constexpr std::array<Row, 16> kRows = {{{"", 1},
                                        {"bool", 1},
                                        {"int8", 1},
                                        {"int16", 2},
                                        {"int32", 4},
                                        {"int64", 8},
                                        {"uint8", 1},
                                        {"uint16", 2},
                                        {"uint32", 4},
                                        {"uint64", 8},
                                        {"float16", 2},
                                        {"bfloat16", 2},
                                        {"float32", 4},
                                        {"float64", 8},
                                        {"complex64", 8},
                                        {"complex128", 16}}};

absl::Status BadShape(const Shape& shape, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("shape (", absl::StrJoin(shape, ", "), ") ", why));
}

}  // namespace

int64_t ItemBytes(Dtype dtype) { return kRows[static_cast<size_t>(dtype) % kRows.size()].bytes; }

absl::string_view DtypeName(Dtype dtype) {
  return kRows[static_cast<size_t>(dtype) % kRows.size()].name;
}

std::optional<Dtype> DtypeByName(absl::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
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
  absl::StatusOr<int64_t> count = ElementCount(shape);
  if (!count.ok()) return count.status();
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*count, ItemBytes(dtype), &bytes)) {
    return BadShape(shape, "has 2^63 bytes or more");
  }
  return bytes;
}

}  // namespace shoal
