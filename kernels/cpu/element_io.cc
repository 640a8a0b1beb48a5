#include "kernels/cpu/element_io.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>
#include <variant>

#include "base/check.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/for_dtype.h"
#include "kernels/half.h"

namespace shoal::kernels::cpu {
namespace {

constexpr size_t kAxesMax = 32;

// ValidateParams let it through: a whole number in the range of some integer dtype.
uint64_t Modulo64(double value) {
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}
uint64_t Modulo64(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t Modulo64(uint64_t value) { return value; }
uint64_t Modulo64(std::complex<double> value) { return Modulo64(value.real()); }

uint64_t Modulo64(const Scalar& scalar) {
  return std::visit([](auto value) { return Modulo64(value); }, scalar);
}

double ImaginaryPart(const Scalar& scalar) {
  const auto* complex = std::get_if<std::complex<double>>(&scalar);
  return complex == nullptr ? 0.0 : complex->imag();
}

template <class T>
void StoreAs(const Scalar& scalar, std::byte* element) {
  T value;
  if constexpr (std::is_same_v<T, Bool8>) {
    value = ToBool8(ToDouble(scalar) != 0 || ImaginaryPart(scalar) != 0);
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(Modulo64(scalar));
  } else if constexpr (kIsComplex<T>) {
    using Part = decltype(value.re);
    value = {static_cast<Part>(ToDouble(scalar)), static_cast<Part>(ImaginaryPart(scalar))};
  } else if constexpr (std::is_same_v<T, Float16>) {
    value.bits = DoubleToFloat16(ToDouble(scalar));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    value.bits = DoubleToBfloat16(ToDouble(scalar));
  } else {
    value = static_cast<T>(ToDouble(scalar));
  }
  std::memcpy(element, &value, sizeof(T));
}

/// Where an index lies along each axis, and which element of the source that is.
class Odometer {
 public:
  Odometer(std::span<const BroadcastAxis> axes, int64_t index) : axes_(axes) {
    SHOAL_CHECK(axes.size() <= kAxesMax);
    for (size_t i = axes.size(); i-- > 0;) {
      at_[i] = index % axes[i].extent;
      index /= axes[i].extent;
      offset_ += at_[i] * axes[i].stride;
    }
  }

  int64_t offset() const { return offset_; }
  /// Elements up to the end of the innermost axis.
  int64_t run() const { return axes_.back().extent - at_[axes_.size() - 1]; }

  /// Goes on by `count`, at most a run.
  void Advance(int64_t count) {
    size_t axis = axes_.size() - 1;
    at_[axis] += count;
    offset_ += count * axes_[axis].stride;
    while (at_[axis] == axes_[axis].extent && axis > 0) {
      offset_ -= at_[axis] * axes_[axis].stride;
      at_[axis] = 0;
      --axis;
      at_[axis] += 1;
      offset_ += axes_[axis].stride;
    }
  }

 private:
  const std::span<const BroadcastAxis> axes_;
  std::array<int64_t, kAxesMax> at_ = {};
  int64_t offset_ = 0;
};

void CopyRun(const std::byte* from, int64_t item_bytes, int64_t stride, int64_t count,
             std::byte* out) {
  if (stride == 0) return FillElements(from, item_bytes, count, out);
  if (stride == 1) {
    std::memcpy(out, from, static_cast<size_t>(count * item_bytes));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * item_bytes, from + i * stride * item_bytes,
                static_cast<size_t>(item_bytes));
  }
}

template <size_t kBytes>
void FillOf(const std::byte* element, int64_t count, std::byte* out) {
  std::array<std::byte, kBytes> value;
  std::memcpy(value.data(), element, kBytes);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * static_cast<int64_t>(kBytes), value.data(), kBytes);
  }
}

}  // namespace

Param ParamFor(DType dtype, const Scalar& scalar) {
  if (IsSignedInteger(dtype) || IsUnsignedInteger(dtype)) {
    return {.real = 0, .integer = Modulo64(scalar)};
  }
  const double value = ToDouble(scalar);
  if (dtype == DType::kFloat16) {
    return {.real = static_cast<double>(Float16ToFloat(DoubleToFloat16(value))), .integer = 0};
  }
  if (dtype == DType::kBfloat16) {
    return {.real = static_cast<double>(Bfloat16ToFloat(DoubleToBfloat16(value))), .integer = 0};
  }
  return {.real = value, .integer = 0};  // The kernels' own cast to the element rounds it.
}

void StoreScalar(DType dtype, const Scalar& scalar, std::byte* element) {
  ForDType(dtype, [&]<DType kDType>() { StoreAs<Stored<kDType>>(scalar, element); });
}

void WidenElement(DType dtype, std::byte* element) {
  uint16_t half = 0;
  std::memcpy(&half, element, sizeof(half));
  const float wide = dtype == DType::kFloat16 ? Float16ToFloat(half) : Bfloat16ToFloat(half);
  std::memcpy(element, &wide, sizeof(wide));
}

void FillElements(const std::byte* element, int64_t item_bytes, int64_t count, std::byte* out) {
  switch (item_bytes) {
    case 1:
      return FillOf<1>(element, count, out);
    case 2:
      return FillOf<2>(element, count, out);
    case 4:
      return FillOf<4>(element, count, out);
    case 8:
      return FillOf<8>(element, count, out);
    default:
      SHOAL_CHECK(item_bytes == 16);
      return FillOf<16>(element, count, out);
  }
}

void GatherBroadcast(const BroadcastSource& source, int64_t first_index, int64_t count,
                     std::byte* out) {
  Odometer at(source.axes, first_index);
  while (count > 0) {
    const int64_t run = std::min(at.run(), count);
    CopyRun(source.data + at.offset() * source.item_bytes, source.item_bytes,
            source.axes.back().stride, run, out);
    out += run * source.item_bytes;
    count -= run;
    at.Advance(run);
  }
}

}  // namespace shoal::kernels::cpu
