#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "shoal/dtype.h"

namespace shoal::cli {

/// What a `.npy` file says about its array (NumPy's format, versions 1.0, 2.0 and 3.0).
///
/// Every dtype of Shoal has its NumPy type. bfloat16, which NumPy lacks, is an extension: `<V2`
/// (two bytes that NumPy does not interpret), as the ml_dtypes package writes it; in NumPy
/// `a.view(ml_dtypes.bfloat16)` gives the numbers back. All other void types are refused.
struct NpyHeader {
  Dtype dtype = Dtype::kUint8;
  Shape shape;
  bool fortran_order = false;
  bool big_endian = false;  ///< False also where an element has one byte.
  int64_t byte_count = 0;   ///< Of the data: element count x item size.

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// The start of every file: magic, version, header length.
struct NpyPreamble {
  int64_t preamble_bytes = 0;  ///< 10 or 12.
  int64_t header_bytes = 0;    ///< What follows it, before the data.
};

inline constexpr int64_t kNpyPreambleMin = 10;
inline constexpr int64_t kNpyPreambleMax = 12;
/// NumPy itself refuses headers above 10,000 bytes.
inline constexpr int64_t kNpyHeaderMax = 64 * 1024;

/// Reads the first 12 bytes of a file, or all it has.
///
/// Errors:
///   INVALID_ARGUMENT  too short, not a .npy file, a version other than 1.0, 2.0 and 3.0, or a
///                     header above kNpyHeaderMax.
absl::StatusOr<NpyPreamble> ParseNpyPreamble(std::string_view bytes);

/// Reads a header: a Python dictionary with exactly the keys descr, fortran_order and shape, in
/// any order, as NumPy's releases and Python 2 (`3L`) write it.
///
/// Errors:
///   INVALID_ARGUMENT  not of that form, a type that Shoal has not (text, objects, dates, records,
///                     longdouble), or an impossible shape. The message says which.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text);

/// Preamble and header as NumPy writes them, byte for byte: version 1.0, little-endian, C order,
/// padded so that the data begins at a multiple of 64.
std::string FormatNpyHeader(Dtype dtype, const Shape& shape);

}  // namespace shoal::cli
