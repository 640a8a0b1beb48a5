#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"
#include "kernels/map.h"
#include "kernels/sort.h"

// How an op's code is bound to its row of the op table.
//
// A kernel file (arithmetic.cc, fold.cc, sort.cc) writes the op's arithmetic once, as a policy over
// element types, and specialises MapCodeOf, ReduceCodeOf or SortCodeOf for the row, named by
// OpIndex("name"). The policy is instantiated for every dtype of the row's mask, so a dtype that is
// claimed but not written fails to compile; bindings.cc refers to the code of every row, so a row
// without code fails to link ("undefined reference to MapCodeOf<7>").
namespace shoal::kernels::cpu {

struct MergeArgs;  // kernels/cpu/sort.h

inline constexpr size_t kDTypeSlots = 16;  ///< Tables are indexed by the dtype's number.

/// A parameter as a value of the array's dtype.
struct Param {
  double real = 0;       ///< For floats, complex numbers and bool; else 0.
  uint64_t integer = 0;  ///< For integers, modulo 2^64; else 0.
};
using Params = std::array<Param, kParamsMax>;

/// Elements of one call of a map's loop; nothing is broadcast any more.
struct MapBlock {
  std::array<const void*, kOpInputsMax> inputs = {};
  const Params* params = nullptr;
  void* output = nullptr;  ///< May be exactly one of the inputs.
  int64_t count = 0;
};
using MapLoop = void (*)(const MapBlock& block);

struct MapCode {
  std::array<MapLoop, kDTypeSlots> loops = {};  ///< Null where the op is not built.
  /// The same with non-temporal stores, for an output that starts a cache line. With
  /// `halves_as_float` those of the halves are not used.
  std::array<MapLoop, kDTypeSlots> streaming_loops = {};
  bool halves_as_float = false;  ///< float16 and bfloat16 loops take and give float32.
};

/// A reduction for one input dtype. All pointers are to elements, aligned to their size.
struct ReduceCode {
  DType accumulator = DType::kFloat32;
  /// The value of a leaf of `count` <= kLeafElements terms, from the inputs.
  void (*leaf)(const std::array<const void*, 2>& inputs, int64_t count, void* value) = nullptr;
  /// The terms of `count` elements.
  void (*terms)(const std::array<const void*, 2>& inputs, int64_t count, void* terms) = nullptr;
  /// The value of a leaf from its terms.
  void (*fold)(const void* terms, int64_t count, void* value) = nullptr;
  /// For each of `columns` columns the value of a leaf of the row tree: `rows` terms in order.
  /// `stride` elements lie between rows. At most kLeafElements columns; one input.
  void (*rows)(const void* input, int64_t stride, int64_t rows, int64_t columns,
               void* values) = nullptr;
  /// left[i] := the value of the node over left[i] and right[i].
  void (*join)(void* left, const void* right, int64_t count) = nullptr;
  /// From roots' values to the output's dtype.
  void (*finish)(const void* values, void* outputs, int64_t count) = nullptr;
  /// The value over no terms; null: there is none.
  void (*empty)(void* value) = nullptr;
};
using ReduceCodes = std::array<ReduceCode, kDTypeSlots>;

/// A sort, for all dtypes of its row: whole rows, and how sorted pieces of one row come together.
struct SortCode {
  void (*rows)(const SortArgs& args) = nullptr;
  void (*merge)(const MergeArgs& args) = nullptr;  ///< Of runs that `rows` made.
};

/// Conversions between halves and float32, and non-temporal stores.
struct BlockCode {
  void (*widen)(DType dtype, const uint16_t* halves, float* floats, int64_t count) = nullptr;
  void (*narrow)(DType dtype, const float* floats, uint16_t* halves, int64_t count) = nullptr;
  /// Rounds each to a value of the dtype.
  void (*round)(DType dtype, float* floats, int64_t count) = nullptr;
  /// Copies bytes to 64-byte aligned memory without reading it into the caches first.
  void (*stream)(const std::byte* from, std::byte* to, int64_t bytes) = nullptr;
};

/// The code of a row, for the best instruction set of this machine. The reference lives for ever.
template <size_t kOp>
const MapCode& MapCodeOf();
template <size_t kOp>
const ReduceCodes& ReduceCodeOf();
template <size_t kOp>
const SortCode& SortCodeOf();
const BlockCode& BlockCodeOfMachine();

/// The same by the row's index at run time; null for a row of another form.
const MapCode* FindMapCode(int64_t op_index);
const ReduceCodes* FindReduceCode(int64_t op_index);
const SortCode* FindSortCode(int64_t op_index);

}  // namespace shoal::kernels::cpu
