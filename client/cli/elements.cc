#include "client/cli/elements.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal::cli {
namespace {

constexpr int64_t kPreviewMax = 16;
constexpr int64_t kPreviewEnds = 4;

template <typename T>
std::string RealText(T value) {
  char buffer[64];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(Float16 value) { return RealText(ToFloat(value)); }
std::string Text(Bfloat16 value) { return RealText(ToFloat(value)); }
template <typename T>
std::string Text(T value) {
  return RealText(value);
}
template <typename T>
std::string Text(std::complex<T> value) {
  const std::string imaginary = RealText(value.imag());
  const bool signed_already = imaginary.starts_with('-');
  return absl::StrCat("(", RealText(value.real()), signed_already ? "" : "+", imaginary, "j)");
}

}  // namespace

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

std::string ElementText(const Array& array, int64_t index) {
  SHOAL_CHECK(index >= 0 && index < array.element_count());
  return VisitDtype(array.dtype(), [&]<typename T>(std::type_identity<T>) {
    return Text(LoadElement<T>(array, index));
  });
}

std::string ArrayPreview(const Array& array) {
  if (array.shape().empty()) return ElementText(array, 0);
  const int64_t count = array.element_count();
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    if (count > kPreviewMax && i == kPreviewEnds) {
      text += "... ";
      i = count - kPreviewEnds;
    }
    text += ElementText(array, i);
  }
  return text + "]";
}

}  // namespace shoal::cli
