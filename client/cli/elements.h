#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "shoal/array.h"

namespace shoal::cli {

/// An element as text that reads back to the same value: "0.1", "true", "(1+2j)", "nan".
///
/// `index` is in C order and below `element_count`.
std::string ElementText(const Array& array, int64_t index);

/// All elements in one line, or the first and the last four: "[0 1 2 3 ... 996 997 998 999]"; a
/// scalar without brackets.
std::string ArrayPreview(const Array& array);

/// An element of an array of that type, from memory that need not be aligned. A bool is true where
/// its byte is not 0.
template <typename T>
T LoadElement(const Array& array, int64_t index) {
  using Bytes = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  Bytes value;
  std::memcpy(&value, array.data().data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else {
    return value;
  }
}

}  // namespace shoal::cli
