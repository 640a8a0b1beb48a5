#include "bench/tasks/tasks_command.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/command.h"
#include "bench/flags.h"
#include "bench/output.h"
#include "bench/process/usage.h"
#include "bench/ranges.h"
#include "bench/shoal/server.h"
#include "bench/stats.h"
#include "bench/tasks/flooder.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "floods of empty tasks.\n"
    "\n"
    "Sent is the time from the first submit to the return of the last, roundtrip that to the last\n"
    "result. Every task must end well, exactly once, or the run fails. Beside Shoal's session\n"
    "stand a bare gRPC unary call and a bare stream message a task, in the same rounds.";

constexpr char kExamples[] =
    "  shoal-bench tasks\n"
    "  shoal-bench tasks --count 512,8192,1000000 --batched\n"
    "  shoal-bench tasks --count 2000 --alone --plane unix\n";

struct TasksFlags {
  std::string count = "512,8192,65536";
  bool one_by_one = true;
  bool batched = false;
  bool alone = false;
  int64_t batch = 1000;
  int64_t in_flight = 64;
  int64_t ceiling_count = 65536;
  int64_t repeat = 3;
  std::vector<std::string> plane = {"tcp"};
  bool ceilings = true;
  bool ceilings_only = false;
  ServerOptions server;
  OutputOptions output;
};

void AddFlags(FlagSet* set, TasksFlags* flags) {
  set->AddText({"count", '\0', "N|A:B:Fx", "Tasks of a flood."}, &flags->count);
  set->AddSwitch({"one-by-one", '\0', "", "Submit each task by itself."}, &flags->one_by_one);
  set->AddSwitch({"batched", '\0', "", "Also submit many at once."}, &flags->batched);
  set->AddSwitch({"alone", '\0', "", "Also wait for each before the next (at most 2000)."},
                 &flags->alone);
  set->AddInt({"batch", '\0', "N", "Tasks submitted at once with --batched."}, &flags->batch);
  set->AddInt({"in-flight", '\0', "N", "Bare calls at once; ten times as many bare messages."},
              &flags->in_flight);
  set->AddInt({"ceiling-count", '\0', "N", "At most so many bare calls or messages."},
              &flags->ceiling_count);
  set->AddInt({"repeat", '\0', "N", "Floods of each; medians are printed."}, &flags->repeat);
  set->AddChoices({"plane", '\0', "", "How messages travel."}, {"tcp", "unix"}, &flags->plane);
  set->AddSwitch({"ceilings", '\0', "", "Measure bare gRPC beside Shoal."}, &flags->ceilings);
  set->AddSwitch({"ceilings-only", '\0', "", "Measure only that; needs no shoald."},
                 &flags->ceilings_only);
  set->AddText({"address", '\0', "HOST:PORT", "A running shoald; default: start one."},
               &flags->server.address);
  set->AddInt({"workers", '\0', "N", "Workers of the started shoald; 0: its default."},
              &flags->server.workers);
  set->AddText({"server-flags", '\0', "TEXT", "More flags for the started shoald."},
               &flags->server.extra_flags);
  AddOutputFlags(set, &flags->output);
}

constexpr int64_t kAloneMax = 2000;

Table TasksTable() {
  return Table({{"tasks", 9, false, ""},
                {"what", 13, true, ""},
                {"mode", 10, true, ""},
                {"plane", 5, true, ""},
                {"sent s", 8, false, ""},
                {"roundtrip s", 11, false, ""},
                {"tasks/s", 9, false, ""},
                {"p50", 8, false, "latency us"},
                {"p90", 8, false, "latency us"},
                {"p99", 8, false, "latency us"},
                {"max", 8, false, "latency us"},
                {"client", 7, false, "CPU-us/task"},
                {"server", 7, false, "CPU-us/task"},
                {"peak MiB", 8, false, ""},
                {"#wrong", 6, false, ""},
                {"grpc_unary", 10, false, "rate as a ratio to"},
                {"grpc_messages", 13, false, "rate as a ratio to"}});
}

// The floods of one way of sending, of one count.
struct Series {
  Flooder* flooder = nullptr;
  int64_t count = 0;
  std::vector<double> sent_s;
  std::vector<double> roundtrip_s;
  std::vector<double> client_us;
  std::vector<double> server_us;
  std::vector<Duration> latencies;
  std::optional<int64_t> peak_rss_bytes;
  int64_t wrong = 0;

  // 0 where every task failed.
  double TasksPerSecond() const {
    const double seconds = Median(roundtrip_s);
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  }

  // Tasks a second over those of `other` in the same round: the median over the rounds.
  double RatioTo(const Series& other) const {
    const double counts = static_cast<double>(count) / static_cast<double>(other.count);
    std::vector<double> ratios;
    for (size_t i = 0; i < roundtrip_s.size(); ++i) {
      ratios.push_back(counts * other.roundtrip_s[i] / roundtrip_s[i]);
    }
    return Median(ratios);
  }

  absl::Status Flood() {
    const pid_t server = flooder->ServerPid();
    if (server != 0) ResetPeakResident(server);
    const Duration client_before = OwnCpu();
    const Duration server_before = server == 0 ? Duration::zero() : ProcessCpu(server);
    const absl::StatusOr<FloodResult> flood = flooder->Flood(count);
    if (!flood.ok()) {
      return {flood.status().code(), absl::StrCat(flooder->Name(), ": ", flood.status().message())};
    }
    const double per_task = 1e6 / static_cast<double>(count);
    client_us.push_back(Seconds(OwnCpu() - client_before) * per_task);
    if (server != 0) {
      server_us.push_back(Seconds(ProcessCpu(server) - server_before) * per_task);
      peak_rss_bytes = std::max(peak_rss_bytes.value_or(0), PeakResidentBytes(server));
    }
    sent_s.push_back(Seconds(flood->sent));
    roundtrip_s.push_back(Seconds(flood->roundtrip));
    latencies.insert(latencies.end(), flood->latencies.begin(), flood->latencies.end());
    wrong += flood->wrong;
    return absl::OkStatus();
  }
};

class Tasks {
 public:
  Tasks(TasksFlags flags, Output* output) : flags_(std::move(flags)), output_(output) {}

  absl::Status Run() {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, ParseCounts(flags_.count));
    if (flags_.repeat < 1 || flags_.in_flight < 1 || flags_.batch < 1) {
      return absl::InvalidArgumentError("--repeat, --in-flight and --batch are at least 1");
    }
    for (const std::string& plane : flags_.plane) {
      SHOAL_RETURN_IF_ERROR(RunPlane(plane, counts));
    }
    return absl::OkStatus();
  }

  int64_t wrong() const { return wrong_; }

 private:
  std::vector<std::string> Modes() const {
    std::vector<std::string> modes;
    if (flags_.one_by_one) modes.emplace_back("one_by_one");
    if (flags_.batched) modes.emplace_back("batched");
    if (flags_.alone) modes.emplace_back("alone");
    return modes;
  }

  absl::Status AddShoal(const std::string& plane) {
    SHOAL_ASSIGN_OR_RETURN(server_, StartServer(flags_.server));
    for (const std::string& mode : Modes()) {
      SHOAL_ASSIGN_OR_RETURN(
          std::unique_ptr<Flooder> flooder,
          NewSessionFlooder(&server_,
                            {plane, mode, flags_.batch, mode == "alone" ? kAloneMax : INT64_MAX}));
      flooders_.push_back(std::move(flooder));
    }
    return absl::OkStatus();
  }

  absl::Status AddCeilings(const std::string& plane) {
    const int in_flight = static_cast<int>(flags_.in_flight);
    for (const std::string& mode : Modes()) {
      if (mode == "batched") continue;  // A bare call has no batch.
      for (const char* ceiling : {"grpc_unary", "grpc_messages"}) {
        const bool messages = ceiling == std::string("grpc_messages");
        CallFlooderOptions options{.ceiling = ceiling, .plane = plane, .mode = mode};
        options.in_flight = messages ? 10 * in_flight : in_flight;
        options.count_max = mode == "alone" ? kAloneMax : flags_.ceiling_count;
        SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Flooder> flooder, NewCallFlooder(options));
        flooders_.push_back(std::move(flooder));
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunPlane(const std::string& plane, const std::vector<int64_t>& counts) {
    if (!flags_.ceilings_only) SHOAL_RETURN_IF_ERROR(AddShoal(plane));
    if (flags_.ceilings || flags_.ceilings_only) SHOAL_RETURN_IF_ERROR(AddCeilings(plane));
    if (flooders_.empty()) return absl::InvalidArgumentError("the flags leave nothing to measure");
    for (const auto& flooder : flooders_) {
      SHOAL_RETURN_IF_ERROR(flooder->Flood(100).status());  // Connections, threads, pools.
    }
    for (const int64_t count : counts) SHOAL_RETURN_IF_ERROR(RunCount(plane, count));
    flooders_.clear();
    if (server_.child == nullptr) return absl::OkStatus();
    return server_.child->Stop(std::chrono::seconds(10));
  }

  absl::Status RunCount(const std::string& plane, int64_t count) {
    std::vector<Series> all;
    for (const auto& flooder : flooders_) {
      Series& series = all.emplace_back();
      series.flooder = flooder.get();
      series.count = std::min(count, flooder->CountMax());
    }
    std::vector<Series*> turns;
    turns.reserve(all.size());
    for (Series& series : all) turns.push_back(&series);
    for (int64_t i = 0; i < flags_.repeat; ++i) {
      for (Series* series : turns) SHOAL_RETURN_IF_ERROR(series->Flood());
      // Each takes its turn at being first: what a round begins with meets other caches.
      std::rotate(turns.begin(), turns.begin() + 1, turns.end());
    }
    for (const Series& series : all) Report(plane, series, all);
    return absl::OkStatus();
  }

  // The bare gRPC ways of the same mode: batches are compared with single calls.
  static std::map<std::string, double> RatiosOf(const Series& series,
                                                const std::vector<Series>& all) {
    const std::string mode = series.flooder->Mode() == "alone" ? "alone" : "one_by_one";
    std::map<std::string, double> ratios;
    for (const Series& other : all) {
      if (other.flooder == series.flooder || other.flooder->Name() == "shoal") continue;
      if (other.flooder->Mode() != mode || other.TasksPerSecond() == 0) continue;
      ratios[other.flooder->Name()] = series.RatioTo(other);
    }
    return ratios;
  }

  void Report(const std::string& plane, const Series& series, const std::vector<Series>& all);

  const TasksFlags flags_;
  Output* const output_;
  Server server_;
  std::vector<std::unique_ptr<Flooder>> flooders_;
  int64_t wrong_ = 0;
};

Json OrNull(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : Json(Median(values));
}

std::string OrDash(const std::vector<double>& values) {
  return values.empty() ? "-" : Significant(Median(values));
}

std::string RatioCell(const std::map<std::string, double>& ratios, const std::string& name) {
  const auto it = ratios.find(name);
  return it == ratios.end() ? "" : Significant(it->second);
}

void Tasks::Report(const std::string& plane, const Series& series, const std::vector<Series>& all) {
  wrong_ += series.wrong;
  const Quantiles latency = QuantilesOf(series.latencies);
  const std::map<std::string, double> ratios = RatiosOf(series, all);
  const std::string peak =
      series.peak_rss_bytes.has_value()
          ? Significant(static_cast<double>(*series.peak_rss_bytes) / static_cast<double>(kMiB))
          : "-";
  Json row = {{"bench", "tasks"},
              {"subject", series.flooder->Name()},
              {"op", "echo"},
              {"mode", series.flooder->Mode()},
              {"plane", plane},
              {"count", series.count},
              {"sent_s", Median(series.sent_s)},
              {"roundtrip_s", Median(series.roundtrip_s)},
              {"ops_per_s", series.TasksPerSecond()},
              {"p50_us", latency.p50_us},
              {"p90_us", latency.p90_us},
              {"p99_us", latency.p99_us},
              {"max_us", latency.max_us},
              {"cpu_client_us_per_task", OrNull(series.client_us)},
              {"cpu_server_us_per_task", OrNull(series.server_us)},
              {"peak_rss_bytes",
               series.peak_rss_bytes.has_value() ? Json(*series.peak_rss_bytes) : Json(nullptr)},
              {"wrong", series.wrong},
              {"ratio", ratios.empty() ? Json::object() : Json(ratios)}};
  output_->Row(
      {Grouped(series.count), series.flooder->Name(), series.flooder->Mode(), plane,
       Significant(Median(series.sent_s)), Significant(Median(series.roundtrip_s)),
       Significant(series.TasksPerSecond()), Significant(latency.p50_us),
       Significant(latency.p90_us), Significant(latency.p99_us), Significant(latency.max_us),
       OrDash(series.client_us), OrDash(series.server_us), peak, absl::StrCat(series.wrong),
       RatioCell(ratios, "grpc_unary"), RatioCell(ratios, "grpc_messages")},
      std::move(row));
}

}  // namespace

int TasksCommand(absl::Span<const std::string> arguments, const std::string& command) {
  TasksFlags flags;
  FlagSet set("tasks", kUsage, kExamples);
  AddFlags(&set, &flags);
  if (const auto exit_status = ParseOrExplain(&set, arguments)) return *exit_status;

  Output output(flags.output, TasksTable());
  const Json head = MakeHead(command, set.values());
  output.Note(HeadText(head));
  Tasks tasks(flags, &output);
  const absl::Status run = tasks.Run();
  output.Note(absl::StrCat("wrong: ", tasks.wrong()));
  const absl::Status written = output.Finish(head);
  return ExitStatus("tasks", {run, written}, tasks.wrong());
}

}  // namespace shoal::bench
