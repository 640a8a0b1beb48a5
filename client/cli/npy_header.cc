#include "client/cli/npy_header.h"

#include <bit>
#include <cstddef>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

using internal::DtypeEntry;
using internal::kDtypeEntries;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// What a person sees of a piece of a file that may hold anything.
std::string Quote(std::string_view text) {
  constexpr size_t kShownMax = 40;
  const bool cut = text.size() > kShownMax;
  return absl::StrCat("'", absl::CHexEscape(View(text.substr(0, kShownMax))), cut ? "..." : "",
                      "'");
}

absl::Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed .npy header: ", View(what)));
}

absl::Status UnknownType(std::string_view descr) {
  const std::string_view code = descr.empty() ? descr : descr.substr(1);
  std::string_view kind = "this type";
  if (code == "f16" || code == "c32") kind = "longdouble";
  if (code.starts_with('U') || code.starts_with('S') || code.starts_with('a')) kind = "text";
  if (code.starts_with('O') || descr == "O") kind = "Python objects";
  if (code.starts_with('M') || code.starts_with('m')) kind = "dates and times";
  if (code.starts_with('V')) kind = "records";
  return absl::InvalidArgumentError(
      absl::StrCat("the .npy file's type ", Quote(descr), ": Shoal has no arrays of ", View(kind)));
}

absl::Status ReadType(std::string_view descr, NpyHeader* header) {
  const char order = descr.empty() ? '\0' : descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') return UnknownType(descr);
  for (const DtypeEntry& type : kDtypeEntries) {
    if (type.npy != View(descr.substr(1))) continue;
    header->dtype = type.dtype;
    const bool several_bytes = type.item_bytes > 1;
    if (order == '|' && several_bytes && type.dtype != Dtype::kBfloat16) break;
    header->big_endian = order == '>' && several_bytes;
    return absl::OkStatus();
  }
  return UnknownType(descr);
}

// Reads the Python literal that a header is, and nothing more of Python.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  absl::StatusOr<NpyHeader> Read() {
    if (!Take('{')) return Malformed("no dictionary");
    while (!Take('}')) {
      SHOAL_RETURN_IF_ERROR(ReadEntry());
      if (Take(',')) continue;
      if (!Take('}')) return Malformed("no ',' or '}' after an entry");
      break;
    }
    SkipBlanks();
    if (!rest_.empty()) return Malformed(absl::StrCat("text after the dictionary: ", Quote(rest_)));
    if (!descr_.has_value()) return Malformed("no 'descr'");
    if (!fortran_order_.has_value()) return Malformed("no 'fortran_order'");
    if (!shape_.has_value()) return Malformed("no 'shape'");

    NpyHeader header;
    SHOAL_RETURN_IF_ERROR(ReadType(*descr_, &header));
    header.fortran_order = *fortran_order_;
    header.shape = *std::move(shape_);
    SHOAL_ASSIGN_OR_RETURN(header.byte_count, ByteCount(header.dtype, header.shape));
    return header;
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  bool Take(char c) {
    SkipBlanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  absl::StatusOr<std::string_view> ReadString() {
    SkipBlanks();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"')
      return Malformed(absl::StrCat("no string at ", Quote(rest_)));
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return Malformed("a string without end");
    const std::string_view text = rest_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos) return Malformed("an escape in a string");
    rest_.remove_prefix(end + 1);
    return text;
  }

  absl::Status ReadEntry() {
    SHOAL_ASSIGN_OR_RETURN(const std::string_view key, ReadString());
    if (!Take(':')) return Malformed("no ':' after a key");
    if (key == "descr" && !descr_.has_value()) return ReadDescr();
    if (key == "fortran_order" && !fortran_order_.has_value()) return ReadFortranOrder();
    if (key == "shape" && !shape_.has_value()) return ReadShape();
    return Malformed(absl::StrCat("key ", Quote(key), " is unknown or stands twice"));
  }

  absl::Status ReadDescr() {
    SkipBlanks();
    if (rest_.starts_with('[')) {
      return absl::InvalidArgumentError("the .npy file holds records: Shoal has none");
    }
    SHOAL_ASSIGN_OR_RETURN(descr_, ReadString());
    return absl::OkStatus();
  }

  absl::Status ReadFortranOrder() {
    if (TakeWord("True")) {
      fortran_order_ = true;
    } else if (TakeWord("False")) {
      fortran_order_ = false;
    } else {
      return Malformed("'fortran_order' is neither True nor False");
    }
    return absl::OkStatus();
  }

  absl::Status ReadShape() {
    if (!Take('(')) return Malformed("'shape' is no tuple");
    Shape shape;
    bool comma = false;
    while (!Take(')')) {
      if (!shape.empty() && !comma) return Malformed("'shape' is no tuple of numbers");
      SHOAL_ASSIGN_OR_RETURN(const int64_t extent, ReadExtent());
      shape.push_back(extent);
      if (shape.size() > 32) return Malformed("more than 32 axes");
      comma = Take(',');
    }
    if (shape.size() == 1 && !comma) return Malformed("'shape' is a number, not a tuple");
    shape_ = std::move(shape);
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> ReadExtent() {
    SkipBlanks();
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') ++digits;
    int64_t extent = 0;
    if (!absl::SimpleAtoi(View(rest_.substr(0, digits)), &extent)) {
      return Malformed(absl::StrCat("no extent below 2^63 at ", Quote(rest_)));
    }
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return extent;
  }

  std::string_view rest_;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

absl::StatusOr<NpyPreamble> ParseNpyPreamble(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<int64_t>(static_cast<uint8_t>(bytes[i])); };
  if (!bytes.starts_with(kMagic)) return absl::InvalidArgumentError("not a .npy file");
  if (bytes.size() < kNpyPreambleMin) return Malformed("the file ends within it");
  const int64_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(".npy format version ", major, ".", byte(7), " is not known; 1.0 to 3.0 are"));
  }
  NpyPreamble preamble = {.preamble_bytes = kNpyPreambleMin,
                          .header_bytes = byte(8) | byte(9) << 8};
  if (major > 1) {
    if (bytes.size() < kNpyPreambleMax) return Malformed("the file ends within it");
    preamble.preamble_bytes = kNpyPreambleMax;
    preamble.header_bytes |= byte(10) << 16 | byte(11) << 24;
  }
  if (preamble.header_bytes > kNpyHeaderMax) {
    return Malformed(absl::StrCat(preamble.header_bytes, " bytes long"));
  }
  return preamble;
}

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text) { return DictReader(text).Read(); }

std::string FormatNpyHeader(Dtype dtype, const Shape& shape) {
  const DtypeEntry* type = internal::FindDtype(dtype);
  SHOAL_CHECK(type != nullptr);
  std::string extents;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    absl::StrAppend(&extents, axis > 0 ? ", " : "", shape[axis]);
  }
  if (shape.size() == 1) extents += ",";
  std::string dict = absl::StrCat("{'descr': '", type->item_bytes == 1 ? "|" : "<", type->npy,
                                  "', 'fortran_order': False, 'shape': (", extents, "), }");
  // NumPy leaves room for the first extent to grow in place to 21 digits, then pads to 64.
  if (!shape.empty()) {
    dict.append(21 - std::to_string(shape[0]).size(), ' ');
  }
  const size_t unpadded = kNpyPreambleMin + dict.size() + 1;
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string out(kMagic);
  out +=
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return out + dict;
}

}  // namespace shoal::cli
