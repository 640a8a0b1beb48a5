#pragma once

#include <cstdint>
#include <string>

#include "shoal/array.h"

namespace shoal::cli {

/// An element as text that reads back to the same value: "0.1", "true", "(1+2j)", "nan".
///
/// `index` is in C order and below `element_count`.
std::string ElementText(const Array& array, int64_t index);

/// All elements in one line, or the first and the last four: "[0 1 2 3 ... 996 997 998 999]"; a
/// scalar without brackets.
std::string ArrayPreview(const Array& array);

/// The value of a float16 or bfloat16.
float ToFloat(Float16 value);
float ToFloat(Bfloat16 value);

}  // namespace shoal::cli
