#pragma once

#include <atomic>
#include <string_view>
#include <variant>

#include "kernels/map.h"
#include "kernels/reduce.h"
#include "kernels/registry.h"
#include "kernels/sort.h"

namespace shoal::device {

// What a device can be asked to compute. Pointers inside the arguments are device memory, borrowed
// until the launch is done.

/// An elementwise op over one contiguous piece.
struct MapWork {
  const kernels::OpInfo* op = nullptr;  ///< Form kMap, built for the dtype of `args`.
  kernels::MapArgs args;
};

/// One piece of a reduction, folded up to what the canonical tree leaves open.
struct ReduceWork {
  const kernels::OpInfo* op = nullptr;  ///< Form kReduce, built for the dtype of `args`.
  kernels::ReduceArgs args;
  kernels::ReducePartial* out = nullptr;  ///< Host memory, valid once done with OK.
};

/// Rows sorted in place.
struct SortWork {
  kernels::SortArgs args;
};

using Work = std::variant<MapWork, ReduceWork, SortWork>;

/// Raised by the owner of a task to stop it between chunks; null: cannot be stopped. Must stay
/// alive until the work is done.
using CancelFlag = const std::atomic<bool>*;

}  // namespace shoal::device
