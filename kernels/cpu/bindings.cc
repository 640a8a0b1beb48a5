#include <array>
#include <cstddef>
#include <utility>

#include "kernels/cpu/op_code.h"
#include "kernels/op_table.h"
#include "kernels/registry.h"

// Names the code of every row of the table, so that one without code does not link.
namespace shoal::kernels::cpu {
namespace {

using MapGetter = const MapCode& (*)();
using ReduceGetter = const ReduceCodes& (*)();
using SortGetter = const SortCode& (*)();

template <size_t kOp>
constexpr MapGetter MapGetterOf() {
  if constexpr (kOpTable[kOp].form == OpForm::kMap) return &MapCodeOf<kOp>;
  return nullptr;
}

template <size_t kOp>
constexpr ReduceGetter ReduceGetterOf() {
  if constexpr (kOpTable[kOp].form == OpForm::kReduce) return &ReduceCodeOf<kOp>;
  return nullptr;
}

template <size_t kOp>
constexpr SortGetter SortGetterOf() {
  if constexpr (kOpTable[kOp].form == OpForm::kSort) return &SortCodeOf<kOp>;
  return nullptr;
}

template <size_t... kOps>
constexpr auto MapGetters(std::index_sequence<kOps...>) {
  return std::array<MapGetter, kOpCount>{MapGetterOf<kOps>()...};
}

template <size_t... kOps>
constexpr auto ReduceGetters(std::index_sequence<kOps...>) {
  return std::array<ReduceGetter, kOpCount>{ReduceGetterOf<kOps>()...};
}

template <size_t... kOps>
constexpr auto SortGetters(std::index_sequence<kOps...>) {
  return std::array<SortGetter, kOpCount>{SortGetterOf<kOps>()...};
}

constexpr auto kMapGetters = MapGetters(std::make_index_sequence<kOpCount>());
constexpr auto kReduceGetters = ReduceGetters(std::make_index_sequence<kOpCount>());
constexpr auto kSortGetters = SortGetters(std::make_index_sequence<kOpCount>());

}  // namespace

const MapCode* FindMapCode(int64_t op_index) {
  const MapGetter getter = kMapGetters[static_cast<size_t>(op_index)];
  return getter == nullptr ? nullptr : &getter();
}

const ReduceCodes* FindReduceCode(int64_t op_index) {
  const ReduceGetter getter = kReduceGetters[static_cast<size_t>(op_index)];
  return getter == nullptr ? nullptr : &getter();
}

const SortCode* FindSortCode(int64_t op_index) {
  const SortGetter getter = kSortGetters[static_cast<size_t>(op_index)];
  return getter == nullptr ? nullptr : &getter();
}

}  // namespace shoal::kernels::cpu
