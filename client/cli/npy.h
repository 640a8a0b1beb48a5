#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/file.h"
#include "shoal/array.h"

namespace shoal::cli {

/// Makes the memory that an array is read into, as `Client::Allocate` does: then a file goes
/// straight into memory that the server shares.
using ArrayAllocator = std::function<absl::StatusOr<Array>(Dtype, Shape)>;

/// Reads one array in NumPy's `.npy` format, versions 1.0 to 3.0, from here on in the file.
///
/// What comes out is little-endian and in C order, whatever the file had; bools are 0 or 1. What
/// follows the array in the file is left alone, as NumPy does. bfloat16: see npy_header.h.
///
/// Memory: the array, twice while it is put into C order. Never what a header merely claims: a
/// file must be that long, and from a pipe memory grows with what has come.
///
/// Errors:
///   INVALID_ARGUMENT    not a .npy file, malformed, cut short, or a type that Shoal has not; the
///                       message names the file.
///   RESOURCE_EXHAUSTED  there is not that much memory.
///   UNKNOWN             what the system says about the file.
absl::StatusOr<Array> ReadNpy(InputFile& file, const ArrayAllocator& allocate);

/// Opens `path` ("-": standard input) and reads it. Errors: those of InputFile::Open as well.
absl::StatusOr<Array> ReadNpyFile(const std::string& path, const ArrayAllocator& allocate);

/// Writes the array as NumPy would: version 1.0, little-endian, C order. Errors: of OutputFile.
absl::Status WriteNpyFile(const std::string& path, const Array& array);

}  // namespace shoal::cli
