#include "bench/sweep/sweep_command.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/ceilings/ceilings.h"
#include "bench/command.h"
#include "bench/flags.h"
#include "bench/output.h"
#include "bench/ranges.h"
#include "bench/sweep/field.h"
#include "bench/sweep/measure.h"
#include "bench/sweep/row.h"
#include "bench/sweep/workload.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "throughput and latency against payload size.\n"
    "\n"
    "Starts a shoald of its own, sends it random payloads, compares every reply, and measures\n"
    "what the same bytes cost without Shoal in the same rounds: memcpy, sockets, bare gRPC.\n"
    "One wrong byte fails the run. Method and columns: docs/benchmarks.md.";

constexpr char kExamples[] =
    "  shoal-bench sweep\n"
    "  shoal-bench sweep -b 1MiB -e 256MiB -f 4 --op put,get,echo --plane tcp,unix\n"
    "  shoal-bench sweep --op apply --function axpy --dtype float32 --plane memfd\n"
    "  shoal-bench sweep -b 64 -e 64 --concurrency 1:16:2x --json sweep.json\n"
    "  shoal-bench sweep --ceilings-only --op put\n";

struct SweepFlags {
  int64_t begin = 8;
  int64_t end = 256 * kMiB;
  int64_t factor = 4;
  std::vector<std::string> ops = {"echo"};
  std::string function = "axpy";
  std::vector<std::string> routes = {"worker"};
  std::vector<std::string> planes = {"tcp"};
  std::string dtype;
  std::string concurrency = "1";
  int64_t in_flight = 1;
  int64_t warmup = 1;
  int64_t repeat = 5;
  int64_t calls = 0;
  int64_t flood = 0;
  int64_t seed = 1;
  bool checksum = true;
  std::vector<std::string> ceilings = CeilingNames();
  bool ceilings_only = false;
  ServerOptions server;
  OutputOptions output;
};

void AddShapeFlags(FlagSet* set, SweepFlags* flags) {
  set->AddBytes({"begin", 'b', "SIZE", "The smallest payload."}, &flags->begin);
  set->AddBytes({"end", 'e', "SIZE", "The largest payload."}, &flags->end);
  set->AddInt({"factor", 'f', "N", "From one payload to the next."}, &flags->factor);
  set->AddChoices({"op", '\0', "", "What is called; several by commas."},
                  {"echo", "apply", "put", "get"}, &flags->ops);
  set->AddText(
      {"function", '\0', "OP", "What --op apply applies: echo, add, multiply, axpy, sum, sort."},
      &flags->function);
  set->AddChoices({"route", '\0', "", "How far an echo goes; several by commas."},
                  {"front", "worker", "device"}, &flags->routes);
  set->AddChoices({"plane", '\0', "", "How payloads travel; several by commas."},
                  {"tcp", "unix", "memfd"}, &flags->planes);
  set->AddText({"dtype", '\0', "NAME", "Element type; default uint8, for apply float32."},
               &flags->dtype);
  set->AddText({"concurrency", '\0', "N|A:B:Fx", "Callers at once, each with its connection."},
               &flags->concurrency);
  set->AddInt({"in-flight", '\0', "N", "Calls of one caller at once."}, &flags->in_flight);
}

void AddMethodFlags(FlagSet* set, SweepFlags* flags) {
  set->AddInt({"warmup", '\0', "N", "Bursts a size that do not count."}, &flags->warmup);
  set->AddInt({"repeat", '\0', "N", "Bursts a size that do; medians are printed."}, &flags->repeat);
  set->AddInt({"calls", '\0', "N", "Calls a burst; 0: 4 MiB of payload, at most 512."},
              &flags->calls);
  set->AddInt({"flood", '\0', "N",
               "Requests sent at once for 'sent' and 'roundtrip'; 0: 64 MiB of "
               "payload, at most 512."},
              &flags->flood);
  set->AddInt({"seed", '\0', "N", "Of the random payloads."}, &flags->seed);
  set->AddSwitch({"checksum", '\0', "", "CRC-32C over every chunk."}, &flags->checksum);
  set->AddChoices({"ceilings", '\0', "", "What to compare with."}, CeilingNames(),
                  &flags->ceilings);
  set->AddSwitch({"ceilings-only", '\0', "", "Measure only the ceilings; needs no shoald."},
                 &flags->ceilings_only);
  set->AddText({"address", '\0', "HOST:PORT", "A running shoald; default: start one."},
               &flags->server.address);
  set->AddInt({"workers", '\0', "N", "Workers of the started shoald; 0: its default."},
              &flags->server.workers);
  set->AddText({"server-flags", '\0', "TEXT", "More flags for the started shoald."},
               &flags->server.extra_flags);
  AddOutputFlags(set, &flags->output);
}

Op OpOf(const std::string& name) {
  if (name == "apply") return Op::kApply;
  if (name == "put") return Op::kPut;
  return name == "get" ? Op::kGet : Op::kEcho;
}

// One op on one route and plane with one number of callers: all sizes of it.
struct Line {
  std::string op;
  std::string route;
  std::string plane;
  int64_t concurrency = 1;
};

// The routes an op can take: only an echo has a choice.
std::vector<std::string> RoutesOf(const std::string& op, const std::vector<std::string>& routes) {
  if (op == "echo") return routes;
  return {op == "apply" ? "device" : "worker"};
}

class Sweep {
 public:
  Sweep(SweepFlags flags, Output* output) : flags_(std::move(flags)), output_(output) {}

  absl::Status Run() {
    SHOAL_ASSIGN_OR_RETURN(sizes_, SizesOf({flags_.begin, flags_.end, flags_.factor}));
    SHOAL_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, ParseCounts(flags_.concurrency));
    if (flags_.repeat < 1 || flags_.in_flight < 1) {
      return absl::InvalidArgumentError("--repeat and --in-flight are at least 1");
    }
    for (const std::string& op : flags_.ops) {
      for (const std::string& route : RoutesOf(op, flags_.routes)) {
        for (const std::string& plane : flags_.planes) {
          for (const int64_t count : counts) {
            SHOAL_RETURN_IF_ERROR(RunLine({op, route, plane, count}));
          }
        }
      }
    }
    return absl::OkStatus();
  }

  int64_t wrong() const { return wrong_; }

 private:
  absl::StatusOr<kernels::DType> DTypeOf(const std::string& op) const {
    const std::string name = !flags_.dtype.empty() ? flags_.dtype
                             : op == "apply"       ? "float32"
                                                   : "uint8";
    if (const auto dtype = kernels::DTypeByName(name)) return *dtype;
    return absl::InvalidArgumentError(absl::StrCat("--dtype: no dtype '", name, "'"));
  }

  absl::StatusOr<std::unique_ptr<Field>> NewField(const Line& line, kernels::DType dtype,
                                                  bool overlap) const {
    return Field::Create({.with_shoal = !flags_.ceilings_only,
                          .server = flags_.server,
                          .shoal = {.plane = line.plane,
                                    .route = line.route,
                                    .function = flags_.function,
                                    .dtype = dtype,
                                    .checksum = flags_.checksum,
                                    .overlap = overlap},
                          .ceilings = flags_.ceilings,
                          .callers = static_cast<int>(line.concurrency)});
  }

  absl::Status RunLine(const Line& line) {
    SHOAL_ASSIGN_OR_RETURN(const kernels::DType dtype, DTypeOf(line.op));
    SHOAL_ASSIGN_OR_RETURN(const auto timed, NewField(line, dtype, flags_.in_flight > 1));
    SHOAL_ASSIGN_OR_RETURN(const auto floods, NewField(line, dtype, true));
    const Crews crews = {timed->Crews(), floods->Crews()};
    for (const int64_t bytes : sizes_) {
      SHOAL_RETURN_IF_ERROR(RunSize(
          line, crews,
          {OpOf(line.op), flags_.function, dtype, bytes, static_cast<uint64_t>(flags_.seed)}));
    }
    SHOAL_RETURN_IF_ERROR(floods->Stop());
    return timed->Stop();
  }

  absl::Status RunSize(const Line& line, const Crews& crews, const WorkloadOptions& options) {
    SHOAL_ASSIGN_OR_RETURN(const Workload workload, Workload::Create(options));
    const MeasureOptions measure = {.warmup = static_cast<int>(flags_.warmup),
                                    .repeat = static_cast<int>(flags_.repeat),
                                    .in_flight = static_cast<int>(flags_.in_flight),
                                    .keep = line.route != "front",
                                    .calls = flags_.calls,
                                    .flood = flags_.flood};
    SHOAL_ASSIGN_OR_RETURN(const std::vector<Measurement> results,
                           MeasureTogether(crews, workload, measure));
    const Op op = workload.options().op;
    const SweepPoint point = {.op = line.op,
                              .function = op == Op::kApply ? flags_.function : "",
                              .route = line.route,
                              .dtype = std::string(kernels::Name(workload.options().dtype)),
                              .bytes = workload.bytes(),
                              .in_bytes = op == Op::kGet ? 0 : workload.request_bytes(),
                              .out_bytes = op == Op::kPut ? 0 : workload.reply_bytes(),
                              .concurrency = line.concurrency,
                              .in_flight = flags_.in_flight};
    for (const Measurement& measured : results) {
      wrong_ += measured.wrong;
      output_->Row(SweepCells(point, measured, flags_.ceilings), SweepJson(point, measured));
    }
    return absl::OkStatus();
  }

  const SweepFlags flags_;
  Output* const output_;
  std::vector<int64_t> sizes_;
  int64_t wrong_ = 0;
};

}  // namespace

int SweepCommand(absl::Span<const std::string> arguments, const std::string& command) {
  SweepFlags flags;
  FlagSet set("sweep", kUsage, kExamples);
  AddShapeFlags(&set, &flags);
  AddMethodFlags(&set, &flags);
  if (const auto exit_status = ParseOrExplain(&set, arguments)) return *exit_status;

  Output output(flags.output, SweepTable(flags.ceilings));
  const Json head = MakeHead(command, set.values());
  output.Note(HeadText(head));
  Sweep sweep(flags, &output);
  const absl::Status run = sweep.Run();
  output.Note(absl::StrCat("wrong: ", sweep.wrong()));
  const absl::Status written = output.Finish(head);
  return ExitStatus("sweep", {run, written}, sweep.wrong());
}

}  // namespace shoal::bench
