#include "kernels/broadcast.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "base/check.h"

namespace shoal::kernels {

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  absl::InlinedVector<int64_t, 4> extents(longer.extents().begin(), longer.extents().end());
  const size_t skipped = longer.extents().size() - shorter.extents().size();
  for (size_t i = 0; i < shorter.extents().size(); ++i) {
    const int64_t extent = shorter.extents()[i];
    int64_t& common = extents[skipped + i];
    if (extent != common && extent != 1 && common != 1) return std::nullopt;
    if (common == 1) common = extent;
  }
  auto shape = Shape::Create(extents);
  if (!shape.ok()) return std::nullopt;  // 2^63 elements or more.
  return *std::move(shape);
}

std::vector<BroadcastAxis> BroadcastAxes(const Shape& input, const Shape& output) {
  if (input == output) return {};
  SHOAL_CHECK(input.rank() <= output.rank());
  const size_t skipped = output.extents().size() - input.extents().size();
  std::vector<BroadcastAxis> axes;  // Innermost first.
  int64_t stride = 1;
  for (size_t i = output.extents().size(); i-- > 0;) {
    const int64_t extent = output.extents()[i];
    const int64_t own = i < skipped ? 1 : input.extents()[i - skipped];
    if (extent == 1) continue;
    const int64_t step = own == 1 ? 0 : stride;
    stride *= own;
    // An axis that goes on where the one within it ends is one with it.
    if (!axes.empty() && step == axes.back().stride * axes.back().extent) {
      axes.back().extent *= extent;
      continue;
    }
    axes.push_back({.extent = extent, .stride = step});
  }
  std::reverse(axes.begin(), axes.end());
  if (axes.size() == 1 && axes[0].stride == 1) return {};  // The same elements in the same order.
  return axes;
}

}  // namespace shoal::kernels
