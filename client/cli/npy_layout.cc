#include "client/cli/npy_layout.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace shoal::cli {
namespace {

constexpr int64_t kTile = 32;

// What is swapped as one: an element, or each part of a complex number.
template <typename T>
struct Part {
  using Type = T;
};
template <typename T>
struct Part<std::complex<T>> {
  using Type = T;
};

template <size_t kBytes>
void SwapAll(std::span<std::byte> data) {
  for (size_t i = 0; i + kBytes <= data.size(); i += kBytes) {
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i),
                 data.begin() + static_cast<ptrdiff_t>(i + kBytes));
  }
}

// Where one plane of the first and the last axis lies on both sides, in items.
struct Plane {
  int64_t first_extent = 0;
  int64_t last_extent = 0;
  int64_t from_stride = 0;  // Between neighbours on the last axis; those on the first are adjacent.
  int64_t to_stride = 0;    // Between neighbours on the first axis; those on the last are adjacent.
};

// Where a tile begins, in items along the two axes.
struct Corner {
  int64_t first = 0;
  int64_t last = 0;
};

template <size_t kBytes>
void TransposeTile(const Plane& plane, const Corner& begin, const Reorder& planes) {
  const int64_t first_end = std::min(begin.first + kTile, plane.first_extent);
  const int64_t last_end = std::min(begin.last + kTile, plane.last_extent);
  for (int64_t i = begin.first; i < first_end; ++i) {
    for (int64_t j = begin.last; j < last_end; ++j) {
      std::memcpy(planes.to.data() + static_cast<size_t>(i * plane.to_stride + j) * kBytes,
                  planes.from.data() + static_cast<size_t>(i + j * plane.from_stride) * kBytes,
                  kBytes);
    }
  }
}

template <size_t kBytes>
void TransposePlane(const Plane& plane, const Reorder& planes) {
  for (int64_t first = 0; first < plane.first_extent; first += kTile) {
    for (int64_t last = 0; last < plane.last_extent; last += kTile) {
      TransposeTile<kBytes>(plane, {.first = first, .last = last}, planes);
    }
  }
}

template <size_t kBytes>
void Transpose(const Shape& shape, const Reorder& reorder) {
  const size_t rank = shape.size();
  std::vector<int64_t> from_strides(rank), to_strides(rank);
  int64_t stride = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    from_strides[axis] = stride;
    stride *= shape[axis];
  }
  stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    to_strides[axis] = stride;
    stride *= shape[axis];
  }
  const Plane plane = {.first_extent = shape[0],
                       .last_extent = shape[rank - 1],
                       .from_stride = from_strides[rank - 1],
                       .to_stride = to_strides[0]};
  // Counts through the axes between the first and the last.
  std::vector<int64_t> index(rank, 0);
  while (true) {
    int64_t from = 0;
    int64_t to = 0;
    for (size_t axis = 1; axis + 1 < rank; ++axis) {
      from += index[axis] * from_strides[axis];
      to += index[axis] * to_strides[axis];
    }
    TransposePlane<kBytes>(plane, {.from = reorder.from.subspan(static_cast<size_t>(from) * kBytes),
                                   .to = reorder.to.subspan(static_cast<size_t>(to) * kBytes)});
    size_t axis = rank - 1;
    while (--axis > 0 && ++index[axis] == shape[axis]) index[axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void SwapByteOrder(Dtype dtype, std::span<std::byte> data) {
  VisitDtype(dtype, [data]<typename T>(std::type_identity<T>) {
    if constexpr (sizeof(T) > 1) SwapAll<sizeof(typename Part<T>::Type)>(data);
  });
}

void FortranToC(const Shape& shape, int64_t item_bytes, const Reorder& reorder) {
  SHOAL_CHECK(reorder.from.size() == reorder.to.size());
  if (reorder.from.empty()) return;
  if (shape.size() < 2) {
    std::copy(reorder.from.begin(), reorder.from.end(), reorder.to.begin());
    return;
  }
  switch (item_bytes) {
    case 1:
      return Transpose<1>(shape, reorder);
    case 2:
      return Transpose<2>(shape, reorder);
    case 4:
      return Transpose<4>(shape, reorder);
    case 8:
      return Transpose<8>(shape, reorder);
    case 16:
      return Transpose<16>(shape, reorder);
    default:
      SHOAL_UNREACHABLE("item size");
  }
}

void NormaliseBools(std::span<std::byte> data) {
  for (std::byte& value : data) value = std::byte{value != std::byte{0}};
}

}  // namespace shoal::cli
