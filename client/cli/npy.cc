#include "client/cli/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "client/cli/npy_header.h"
#include "client/cli/npy_layout.h"

namespace shoal::cli {
namespace {

absl::Status InFile(const InputFile& file, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(file.name(), ": ", status.message()));
}

absl::Status CutShort(const InputFile& file, int64_t wanted, int64_t found) {
  return absl::InvalidArgumentError(absl::StrCat(file.name(), ": cut short: ", wanted,
                                                 " bytes of data announced, ", found, " there"));
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Preamble and header, up to the first byte of the data.
absl::StatusOr<NpyHeader> ReadHeader(InputFile& file) {
  std::array<std::byte, kNpyPreambleMax> start{};
  const std::span<std::byte> bytes(start);
  SHOAL_ASSIGN_OR_RETURN(int64_t found, file.Read(bytes.first(kNpyPreambleMin)));
  if (found == kNpyPreambleMin && start[6] != std::byte{1}) {
    SHOAL_ASSIGN_OR_RETURN(const int64_t more, file.Read(bytes.subspan(kNpyPreambleMin)));
    found += more;
  }
  const absl::StatusOr<NpyPreamble> preamble =
      ParseNpyPreamble(AsText(bytes.first(static_cast<size_t>(found))));
  if (!preamble.ok()) return InFile(file, preamble.status());

  std::vector<std::byte> text(static_cast<size_t>(preamble->header_bytes));
  SHOAL_ASSIGN_OR_RETURN(found, file.Read(text));
  if (found < preamble->header_bytes) {
    return InFile(file, absl::InvalidArgumentError("the file ends within its header"));
  }
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(AsText(text));
  if (!header.ok()) return InFile(file, header.status());
  return header;
}

// Data whose length the system cannot tell: takes memory only as bytes come.
absl::StatusOr<std::vector<std::byte>> ReadGrowing(InputFile& file, int64_t byte_count) {
  std::vector<std::byte> data;
  while (static_cast<int64_t>(data.size()) < byte_count) {
    const size_t had = data.size();
    const auto step =
        static_cast<size_t>(std::min(byte_count - static_cast<int64_t>(had),
                                     std::max<int64_t>(kMiB, static_cast<int64_t>(had))));
    try {
      data.resize(had + step);
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(absl::StrCat(file.name(), ": no memory for the array"));
    }
    SHOAL_ASSIGN_OR_RETURN(const int64_t found, file.Read(std::span(data).subspan(had)));
    if (static_cast<size_t>(found) < step) {
      return CutShort(file, byte_count, static_cast<int64_t>(had) + found);
    }
  }
  return data;
}

absl::Status FillArray(InputFile& file, std::span<std::byte> out) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t found, file.Read(out));
  if (found == static_cast<int64_t>(out.size())) return absl::OkStatus();
  return CutShort(file, static_cast<int64_t>(out.size()), found);
}

}  // namespace

absl::StatusOr<Array> ReadNpy(InputFile& file, const ArrayAllocator& allocate) {
  SHOAL_ASSIGN_OR_RETURN(const NpyHeader header, ReadHeader(file));
  const std::optional<int64_t> there = file.RemainingBytes();
  if (there.has_value() && *there < header.byte_count) {
    return CutShort(file, header.byte_count, *there);
  }
  std::vector<std::byte> arrived;
  if (!there.has_value()) {
    SHOAL_ASSIGN_OR_RETURN(arrived, ReadGrowing(file, header.byte_count));
  }
  const auto fill = [&](std::span<std::byte> out) {
    if (!there.has_value()) {
      std::copy(arrived.begin(), arrived.end(), out.begin());
      return absl::OkStatus();
    }
    return FillArray(file, out);
  };

  SHOAL_ASSIGN_OR_RETURN(Array array, allocate(header.dtype, header.shape));
  const absl::Span<std::byte> target = array.mutable_data();
  const std::span<std::byte> data(target.data(), target.size());
  if (header.fortran_order && header.shape.size() > 1) {
    SHOAL_ASSIGN_OR_RETURN(Array as_stored, Array::Create(header.dtype, header.shape));
    const absl::Span<std::byte> source = as_stored.mutable_data();
    SHOAL_RETURN_IF_ERROR(fill({source.data(), source.size()}));
    FortranToC(header.shape, ItemBytes(header.dtype),
               {.from = {source.data(), source.size()}, .to = data});
  } else {
    SHOAL_RETURN_IF_ERROR(fill(data));
  }
  if (header.big_endian) SwapByteOrder(header.dtype, data);
  if (header.dtype == Dtype::kBool) NormaliseBools(data);
  return array;
}

absl::StatusOr<Array> ReadNpyFile(const std::string& path, const ArrayAllocator& allocate) {
  SHOAL_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  return ReadNpy(file, allocate);
}

absl::Status WriteNpyFile(const std::string& path, const Array& array) {
  SHOAL_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  const std::string header = FormatNpyHeader(array.dtype(), array.shape());
  SHOAL_RETURN_IF_ERROR(file.Write(std::as_bytes(std::span(header))));
  const absl::Span<const std::byte> data = array.data();
  SHOAL_RETURN_IF_ERROR(file.Write({data.data(), data.size()}));
  return file.Finish();
}

}  // namespace shoal::cli
