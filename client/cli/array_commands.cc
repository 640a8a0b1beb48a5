#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/elements.h"
#include "client/cli/exit_code.h"
#include "client/cli/json_view.h"
#include "client/cli/npy.h"
#include "client/cli/text.h"

namespace shoal::cli {
namespace {

// "#12 x: float64 (3, 4), 96 B, block".
std::string Describe(const ArrayInfo& info) {
  return absl::StrCat("#", info.id, info.name.empty() ? "" : " ", Printable(info.name), ": ",
                      DtypeName(info.dtype), " ", FormatShape(info.shape), ", ",
                      FormatBytes(info.bytes), ", ", FormatDistribution(info.distribution));
}

}  // namespace

absl::Status RunPut(CommandContext& context) {
  const ParsedOptions& options = context.options;
  PutOptions put;
  put.name = options.String("name");
  put.replace = options.Bool("replace");
  if (options.Has("distribution")) {
    SHOAL_ASSIGN_OR_RETURN(put.distribution, ParseDistribution(options.String("distribution")));
  }
  const std::string& path = options.positionals()[0];
  // Read straight into memory that the server shares, where there is such memory.
  SHOAL_ASSIGN_OR_RETURN(const Array array, ReadNpyFile(path, [&](Dtype dtype, Shape shape) {
                           return context.client.Allocate(dtype, std::move(shape));
                         }));
  absl::StatusOr<ArrayInfo> info;
  {
    ProgressBar bar(context.console.err, context.Bar(absl::StrCat("put ", path)));
    put.progress = bar.Callback();
    info = context.client.Put(array, put);
  }
  if (!info.ok()) return info.status();
  context.console.out << (context.json() ? ToText(ToJson(*info)) : Describe(*info) + "\n");
  return absl::OkStatus();
}

absl::Status RunGet(CommandContext& context) {
  const std::string& output = context.options.String("output");
  if (output == "-" && context.json()) {
    return UsageError("--json and -o - would both print to standard output");
  }
  const std::string& text = context.options.positionals()[0];
  SHOAL_ASSIGN_OR_RETURN(const ArrayRef reference, ParseArrayRef(text));
  absl::StatusOr<Array> array;
  {
    ProgressBar bar(context.console.err, context.Bar(absl::StrCat("get ", text)));
    GetOptions get;
    get.progress = bar.Callback();
    array = context.client.Get(reference, get);
  }
  if (!array.ok()) return array.status();
  if (!output.empty()) SHOAL_RETURN_IF_ERROR(WriteNpyFile(output, *array));
  if (output == "-") return absl::OkStatus();

  std::ostream& out = context.console.out;
  if (context.json()) {
    Json json = {{"dtype", std::string(DtypeName(array->dtype()))},
                 {"shape", array->shape()},
                 {"bytes", array->byte_count()}};
    json[output.empty() ? "values" : "file"] =
        output.empty() ? ElementsToJson(*array) : Json(output);
    out << ToText(json);
  } else {
    out << (output.empty() ? "" : absl::StrCat(output, ": ")) << DtypeName(array->dtype()) << " "
        << FormatShape(array->shape())
        << (output.empty() ? absl::StrCat(" ", ArrayPreview(*array))
                           : absl::StrCat(", ", FormatBytes(array->byte_count())))
        << "\n";
  }
  return absl::OkStatus();
}

absl::Status RunList(CommandContext& context) {
  ListOptions list;
  if (!context.options.positionals().empty()) list.name_prefix = context.options.positionals()[0];
  SHOAL_ASSIGN_OR_RETURN(const std::vector<ArrayInfo> arrays, context.client.List(list));
  if (context.json()) {
    Json json = Json::array();
    for (const ArrayInfo& info : arrays) json.push_back(ToJson(info));
    context.console.out << ToText({{"arrays", json}});
    return absl::OkStatus();
  }
  using Align = TextTable::Align;
  TextTable table({{"ID", Align::kRight},
                   {"NAME"},
                   {"DTYPE"},
                   {"SHAPE"},
                   {"SIZE", Align::kRight},
                   {"DISTRIBUTION"},
                   {"STATE"}});
  for (const ArrayInfo& info : arrays) {
    table.AddRow({absl::StrCat(info.id), info.name, std::string(DtypeName(info.dtype)),
                  FormatShape(info.shape), FormatBytes(info.bytes),
                  FormatDistribution(info.distribution),
                  info.complete ? "complete"
                                : absl::StrCat(FormatBytes(info.acknowledged_bytes), " there")});
  }
  context.console.out << table.ToString();
  return absl::OkStatus();
}

absl::Status RunRemove(CommandContext& context) {
  std::vector<ArrayRef> references;
  for (const std::string& text : context.options.positionals()) {
    SHOAL_ASSIGN_OR_RETURN(ArrayRef reference, ParseArrayRef(text));
    references.push_back(std::move(reference));
  }
  FreeOptions free;
  free.missing_ok = context.options.Bool("missing-ok");
  SHOAL_ASSIGN_OR_RETURN(const int64_t bytes, context.client.Free(references, free));
  if (context.json()) {
    context.console.out << ToText({{"freed_bytes", bytes}});
  } else {
    context.console.out << "freed " << FormatBytes(bytes) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace shoal::cli
