#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
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

using Nanoseconds = std::chrono::nanoseconds;

// Elements that --json prints of an output that goes nowhere else.
constexpr int64_t kJsonElementsMax = 4096;

ArrayAllocator Allocator(Client& client) {
  return [&client](Dtype dtype, Shape shape) { return client.Allocate(dtype, std::move(shape)); };
}

absl::StatusOr<Argument> LoadInput(Client& client, const std::string& text) {
  SHOAL_ASSIGN_OR_RETURN(const InputArgument input, ParseInput(text));
  if (const auto* reference = std::get_if<ArrayRef>(&input.value)) {
    return Argument(input.name, *reference);
  }
  SHOAL_ASSIGN_OR_RETURN(Array array,
                         ReadNpyFile(std::get<std::string>(input.value), Allocator(client)));
  return Argument(input.name, std::move(array));
}

// Two outputs in one file would leave the last. However the paths are spelled; a device such as
// /dev/null may be named as often as one likes.
absl::Status CheckFilesDiffer(const std::vector<std::string>& outputs) {
  namespace fs = std::filesystem;
  std::set<fs::path> seen;
  for (const std::string& output : outputs) {
    std::error_code unknown;
    const fs::file_status there = fs::status(output, unknown);
    if (output == "-" || fs::is_other(there)) continue;
    fs::path place = fs::weakly_canonical(fs::absolute(output, unknown), unknown);
    if (!unknown && !seen.insert(std::move(place)).second) {
      return UsageError(absl::StrCat("two outputs would be written to ", output));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStreams(const ParsedOptions& options) {
  const std::vector<std::string>& outputs = options.Strings("output");
  const std::vector<std::string>& inputs = options.positionals();
  const auto from_input = std::count_if(inputs.begin() + 1, inputs.end(), [](const auto& text) {
    return text == "-" || text.ends_with("=-");
  });
  if (from_input > 1) return UsageError("standard input can be one input only");
  const auto to_output = std::count(outputs.begin(), outputs.end(), "-");
  if (to_output > 1) return UsageError("standard output can take one output only");
  if (to_output > 0 && options.Bool("json")) {
    return UsageError("--json and -o - would both print to standard output");
  }
  if (!outputs.empty() && !options.Strings("store").empty()) {
    return UsageError("-o and --store exclude each other");
  }
  return CheckFilesDiffer(outputs);
}

// An op's name is one word; a program is more than that.
bool IsName(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

absl::StatusOr<Call> MakeCall(CommandContext& context) {
  const ParsedOptions& options = context.options;
  SHOAL_RETURN_IF_ERROR(CheckStreams(options));
  Call call = {.want_timing = options.Bool("timing")};
  const std::string& function = options.positionals()[0];
  (IsName(function) ? call.op : call.program) = function;
  call.outputs = options.Strings("result");
  for (const std::string& text : options.Strings("param")) {
    SHOAL_ASSIGN_OR_RETURN(Param param, ParseParam(text));
    call.params.push_back(std::move(param));
  }
  Store store = {.name = {}, .distribution = {}, .replace = options.Bool("replace")};
  if (options.Has("distribution")) {
    SHOAL_ASSIGN_OR_RETURN(store.distribution, ParseDistribution(options.String("distribution")));
  }
  for (const std::string& name : options.Strings("store")) {
    store.name = name;
    call.destinations.emplace_back(store);
  }
  // Last, since it reads files.
  for (size_t i = 1; i < options.positionals().size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(Argument argument, LoadInput(context.client, options.positionals()[i]));
    call.arguments.push_back(std::move(argument));
  }
  return call;
}

Json OutputJson(const Output& output, const std::string& place) {
  Json json = {{"name", output.name},
               {"dtype", std::string(DtypeName(output.dtype))},
               {"shape", output.shape}};
  if (output.array_id != 0) {
    json["array_id"] = output.array_id;
    json["array_name"] = place;
  } else if (!place.empty()) {
    json["file"] = place;
  } else if (output.array.element_count() <= kJsonElementsMax) {
    json["values"] = ElementsToJson(output.array);
  }
  return json;
}

// `place`: the file or the name that the command line gave the output.
std::string OutputText(const Output& output, const std::string& place) {
  std::string where;
  if (!output.name.empty()) absl::StrAppend(&where, Printable(output.name), ": ");
  if (output.array_id != 0) absl::StrAppend(&where, "#", output.array_id, " ");
  if (!place.empty()) absl::StrAppend(&where, place, ": ");
  const bool printed = output.array_id == 0 && place.empty();
  return absl::StrCat(where, DtypeName(output.dtype), " ", FormatShape(output.shape),
                      printed ? " " : "", printed ? ArrayPreview(output.array) : "", "\n");
}

std::string TimingText(const Timing& timing) {
  return absl::StrCat("queue ", FormatTime(timing.queue), ", transfer in ",
                      FormatTime(timing.transfer_in), ", compute ", FormatTime(timing.compute),
                      ", collective ", FormatTime(timing.collective), ", transfer out ",
                      FormatTime(timing.transfer_out), "\n");
}

void PrintResult(const CommandContext& context, const Result& result) {
  const std::vector<std::string>& files = context.options.Strings("output");
  if (std::find(files.begin(), files.end(), "-") != files.end()) return;
  const std::vector<std::string>& places = files.empty() ? context.options.Strings("store") : files;
  Json outputs = Json::array();
  std::string text;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const std::string place = i < places.size() ? places[i] : "";
    if (context.json()) {
      outputs.push_back(OutputJson(result.outputs[i], place));
    } else {
      text += OutputText(result.outputs[i], place);
    }
  }
  if (context.json()) {
    Json json = {{"op", context.options.positionals()[0]},
                 {"backend", result.backend},
                 {"worker_count", result.worker_count},
                 {"outputs", outputs}};
    if (result.timing.has_value()) json["timing"] = ToJson(*result.timing);
    text = ToText(json);
  } else if (result.timing.has_value()) {
    text += TimingText(*result.timing);
  }
  context.console.out << text;
}

Route RouteOf(const std::string& name) {
  if (name == "front") return Route::kFront;
  if (name == "worker") return Route::kWorker;
  SHOAL_CHECK(name == "device");
  return Route::kDevice;
}

// The array to send: the file's, or random bytes.
absl::StatusOr<Array> EchoPayload(CommandContext& context) {
  const std::vector<std::string>& files = context.options.positionals();
  if (!files.empty()) return ReadNpyFile(files[0], Allocator(context.client));
  SHOAL_ASSIGN_OR_RETURN(Array payload,
                         context.client.Allocate(Dtype::kUint8, {context.options.Bytes("bytes")}));
  std::mt19937_64 random(
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  const absl::Span<std::byte> bytes = payload.mutable_data();
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min(sizeof(word), bytes.size() - i));
  }
  return payload;
}

struct EchoRun {
  std::vector<Nanoseconds> times;  // Sorted.
  Array reply;

  Nanoseconds median() const { return times[times.size() / 2]; }
};

absl::StatusOr<EchoRun> EchoMany(CommandContext& context, const Array& payload) {
  EchoRun run;
  SHOAL_ASSIGN_OR_RETURN(run.reply, context.client.Allocate(payload.dtype(), payload.shape()));
  EchoOptions echo;
  echo.route = RouteOf(context.options.String("route"));
  for (int64_t i = 0; i < context.options.Int("count"); ++i) {
    const absl::Span<std::byte> room = run.reply.mutable_data();
    std::fill(room.begin(), room.end(), std::byte{0});
    const auto start = std::chrono::steady_clock::now();
    SHOAL_RETURN_IF_ERROR(context.client.EchoInto(payload, run.reply, echo));
    run.times.push_back(std::chrono::steady_clock::now() - start);
    if (!SameBytes(payload, run.reply)) {
      return absl::DataLossError("the bytes that came back are not those that were sent");
    }
  }
  std::sort(run.times.begin(), run.times.end());
  return run;
}

const char* PlaneName(Plane plane) {
  switch (plane) {
    case Plane::kAuto:
      return "auto";
    case Plane::kTcp:
      return "tcp";
    case Plane::kUnix:
      return "unix";
    case Plane::kMemfd:
      return "memfd";
  }
  SHOAL_UNREACHABLE("plane");
}

}  // namespace

absl::Status RunApply(CommandContext& context) {
  SHOAL_ASSIGN_OR_RETURN(const Call call, MakeCall(context));
  SHOAL_ASSIGN_OR_RETURN(const Result result, context.client.Apply(call));
  const std::vector<std::string>& files = context.options.Strings("output");
  if (files.size() > result.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(context.options.positionals()[0], " has ",
                                                   result.outputs.size(), " outputs, ",
                                                   files.size(), " files are named"));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(WriteNpyFile(files[i], result.outputs[i].array));
  }
  PrintResult(context, result);
  return absl::OkStatus();
}

absl::Status RunEcho(CommandContext& context) {
  const std::string& output = context.options.String("output");
  if (output == "-" && context.json()) {
    return UsageError("--json and -o - would both print to standard output");
  }
  SHOAL_ASSIGN_OR_RETURN(const Array payload, EchoPayload(context));
  SHOAL_ASSIGN_OR_RETURN(const EchoRun run, EchoMany(context, payload));
  if (!output.empty()) SHOAL_RETURN_IF_ERROR(WriteNpyFile(output, run.reply));
  if (output == "-") return absl::OkStatus();

  const double seconds = std::chrono::duration<double>(run.median()).count();
  const double rate = seconds > 0 ? static_cast<double>(payload.byte_count()) / seconds : 0;
  const std::string route = context.options.String("route");
  const std::string plane = PlaneName(context.client.plane());
  if (context.json()) {
    context.console.out << ToText({{"bytes", payload.byte_count()},
                                   {"route", route},
                                   {"plane", plane},
                                   {"count", run.times.size()},
                                   {"wrong", 0},
                                   {"min_ns", run.times.front().count()},
                                   {"median_ns", run.median().count()},
                                   {"max_ns", run.times.back().count()},
                                   {"bytes_per_second_each_way", rate}});
    return absl::OkStatus();
  }
  context.console.out << FormatBytes(payload.byte_count()) << " to the " << route << " and back, "
                      << plane << ", " << run.times.size()
                      << (run.times.size() == 1 ? " time" : " times") << ": median "
                      << FormatTime(run.median()) << ", least " << FormatTime(run.times.front())
                      << ", most " << FormatTime(run.times.back()) << "; " << FormatRate(rate)
                      << " each way, no byte wrong\n";
  return absl::OkStatus();
}

}  // namespace shoal::cli
