#include "client/cli/elements.h"

#include <charconv>
#include <complex>
#include <cstddef>

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
template <typename T>
std::string Text(T value) {
  if constexpr (kIsBits<T>) {
    return RealText(ToFloat(value));
  } else {
    return RealText(value);
  }
}
template <typename T>
std::string Text(std::complex<T> value) {
  const std::string imaginary = RealText(value.imag());
  const bool signed_already = imaginary.starts_with('-');
  return absl::StrCat("(", RealText(value.real()), signed_already ? "" : "+", imaginary, "j)");
}

}  // namespace

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
