#include "bench/tasks/tasks_command.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
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
#include "bench/tasks/peer_flooder.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "floods of empty tasks.\n"
    "\n"
    "Sent is the time from the first submit to the return of the last, roundtrip that to the last\n"
    "result. Every task must end well, exactly once, or the run fails. Beside Shoal's session\n"
    "stand a bare gRPC unary call and a bare stream message a task, in the same rounds, and with\n"
    "--peers ipyparallel and Dask, in as many worker processes (scripts/bench-peers installs "
    "them).";

constexpr char kExamples[] =
    "  shoal-bench tasks\n"
    "  shoal-bench tasks --count 512,8192,1000000 --batched\n"
    "  shoal-bench tasks --count 2000 --alone --plane unix\n"
    "  shoal-bench tasks --count 65536 --batched --peers ipyparallel,dask\n";

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
  std::vector<std::string> peers;
  std::string peer_python = "build/bench-peers/bin/python";
  int64_t peer_count = 2000;
  int64_t peer_timeout_s = 120;
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
  set->AddChoices({"peers", '\0', "", "Also measure these, where the plane is tcp."},
                  {"ipyparallel", "dask"}, &flags->peers);
  set->AddText({"peer-python", '\0', "PATH", "A Python that has them."}, &flags->peer_python);
  set->AddInt({"peer-count", '\0', "N", "At most so many tasks of a peer."}, &flags->peer_count);
  set->AddInt({"peer-timeout", '\0', "SECONDS", "For a flood of a peer, or its start."},
              &flags->peer_timeout_s);
  set->AddText({"address", '\0', "HOST:PORT", "A running shoald; default: start one."},
               &flags->server.address);
  set->AddInt(
      {"workers", '\0', "N", "Workers of the started shoald (0: its default), and of each peer."},
      &flags->server.workers);
  set->AddText({"server-flags", '\0', "TEXT", "More flags for the started shoald."},
               &flags->server.extra_flags);
  AddOutputFlags(set, &flags->output);
}

constexpr int64_t kAloneMax = 2000;

Table TasksTable(const std::vector<std::string>& peers) {
  std::vector<Column> columns = {{"tasks", 9, false, ""},
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
                                 {"grpc_messages", 13, false, "rate as a ratio to"}};
  for (const std::string& peer : peers) {
    columns.push_back({peer, 11, false, "rate as a ratio to"});
  }
  return Table(std::move(columns));
}

absl::Status Named(const std::string& name, const absl::Status& status) {
  return {status.code(), absl::StrCat(name, ": ", status.message())};
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
    if (!flood.ok()) return Named(flooder->Name(), flood.status());
    const double per_task = 1e6 / static_cast<double>(count);
    if (flood->usage.has_value()) {
      client_us.push_back(Seconds(flood->usage->client_cpu) * per_task);
      server_us.push_back(Seconds(flood->usage->server_cpu) * per_task);
      peak_rss_bytes = std::max(peak_rss_bytes.value_or(0), flood->usage->peak_rss_bytes);
    } else {
      client_us.push_back(Seconds(OwnCpu() - client_before) * per_task);
    }
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
    SHOAL_RETURN_IF_ERROR(CheckPeerFlags());
    for (const std::string& plane : flags_.plane) {
      SHOAL_RETURN_IF_ERROR(RunPlane(plane, counts));
    }
    return peer_status_;
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

  absl::Status CheckPeerFlags() const {
    if (flags_.peers.empty()) return absl::OkStatus();
    if (flags_.peer_count < 1 || flags_.peer_timeout_s < 1) {
      return absl::InvalidArgumentError("--peer-count and --peer-timeout are at least 1");
    }
    if (std::set<std::string>(flags_.peers.begin(), flags_.peers.end()).size() !=
        flags_.peers.size()) {
      return absl::InvalidArgumentError("--peers names one twice");
    }
    if (std::find(flags_.plane.begin(), flags_.plane.end(), "tcp") == flags_.plane.end()) {
      return absl::InvalidArgumentError("--peers speak TCP: they need --plane tcp");
    }
    return absl::OkStatus();
  }

  absl::Status AddPeers() {
    PeerOptions options;
    options.python = flags_.peer_python;
    options.count_max = flags_.peer_count;
    options.timeout = std::chrono::seconds(flags_.peer_timeout_s);
    // As many as a shoald has by default.
    const int64_t cores = std::thread::hardware_concurrency();
    options.workers =
        flags_.server.workers > 0 ? flags_.server.workers : std::clamp<int64_t>(cores, 1, 4);
    for (const std::string& peer : flags_.peers) {
      options.name = peer;
      absl::StatusOr<std::unique_ptr<Flooder>> flooder = NewPeerFlooder(options);
      if (!flooder.ok()) return Named(peer, flooder.status());
      output_->Note(absl::StrCat(peer, ": ", (*flooder)->About()));
      flooders_.push_back(*std::move(flooder));
    }
    return absl::OkStatus();
  }

  absl::Status RunPlane(const std::string& plane, const std::vector<int64_t>& counts) {
    if (!flags_.ceilings_only) SHOAL_RETURN_IF_ERROR(AddShoal(plane));
    if (flags_.ceilings || flags_.ceilings_only) SHOAL_RETURN_IF_ERROR(AddCeilings(plane));
    if (plane == "tcp") SHOAL_RETURN_IF_ERROR(AddPeers());
    if (flooders_.empty()) return absl::InvalidArgumentError("the flags leave nothing to measure");
    for (const auto& flooder : flooders_) {
      if (flooder->IsPeer()) continue;                      // Its start has seen to it.
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
      for (Series* series : turns) SHOAL_RETURN_IF_ERROR(FloodOf(series));
      // Each takes its turn at being first: what a round begins with meets other caches.
      std::rotate(turns.begin(), turns.begin() + 1, turns.end());
    }
    const auto failed = [this](const auto& each) { return failed_.count(FlooderOf(each)) != 0; };
    all.erase(std::remove_if(all.begin(), all.end(), failed), all.end());
    for (const Series& series : all) Report(plane, series, all);
    flooders_.erase(std::remove_if(flooders_.begin(), flooders_.end(), failed), flooders_.end());
    failed_.clear();
    return absl::OkStatus();
  }

  static const Flooder* FlooderOf(const Series& series) { return series.flooder; }
  static const Flooder* FlooderOf(const std::unique_ptr<Flooder>& flooder) { return flooder.get(); }

  // A peer that fails is left out from then on, and the run ends with its error.
  absl::Status FloodOf(Series* series) {
    if (failed_.count(series->flooder) != 0) return absl::OkStatus();
    const absl::Status status = series->Flood();
    if (status.ok() || !series->flooder->IsPeer()) return status;
    output_->Note(status.ToString());
    peer_status_.Update(status);
    failed_.insert(series->flooder);
    return absl::OkStatus();
  }

  // The bare gRPC ways of the same mode: batches are compared with single calls. A peer's flood is
  // the better of its ways, and both of Shoal's are compared with it.
  static std::map<std::string, double> RatiosOf(const Series& series,
                                                const std::vector<Series>& all) {
    const std::string mode = series.flooder->Mode() == "alone" ? "alone" : "one_by_one";
    std::map<std::string, double> ratios;
    for (const Series& other : all) {
      if (other.flooder == series.flooder || other.flooder->Name() == "shoal") continue;
      const bool same = other.flooder->IsPeer() ? mode != "alone" : other.flooder->Mode() == mode;
      if (!same || other.TasksPerSecond() == 0) continue;
      ratios[other.flooder->Name()] = series.RatioTo(other);
    }
    return ratios;
  }

  void Report(const std::string& plane, const Series& series, const std::vector<Series>& all);

  const TasksFlags flags_;
  Output* const output_;
  Server server_;
  std::vector<std::unique_ptr<Flooder>> flooders_;
  std::set<const Flooder*> failed_;  // Peers, of the count that is being measured.
  absl::Status peer_status_;         // The first error of a peer.
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
  const bool known = !series.flooder->IsPeer();  // Nobody looked at single tasks of a peer.
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
              {"p50_us", known ? Json(latency.p50_us) : Json(nullptr)},
              {"p90_us", known ? Json(latency.p90_us) : Json(nullptr)},
              {"p99_us", known ? Json(latency.p99_us) : Json(nullptr)},
              {"max_us", known ? Json(latency.max_us) : Json(nullptr)},
              {"cpu_client_us_per_task", OrNull(series.client_us)},
              {"cpu_server_us_per_task", OrNull(series.server_us)},
              {"peak_rss_bytes",
               series.peak_rss_bytes.has_value() ? Json(*series.peak_rss_bytes) : Json(nullptr)},
              {"wrong", series.wrong},
              {"ratio", ratios.empty() ? Json::object() : Json(ratios)}};
  if (series.flooder->IsPeer()) row["about"] = series.flooder->About();
  const auto cell = [known](double us) { return known ? Significant(us) : std::string("-"); };
  std::vector<std::string> cells = {Grouped(series.count),
                                    series.flooder->Name(),
                                    series.flooder->Mode(),
                                    plane,
                                    Significant(Median(series.sent_s)),
                                    Significant(Median(series.roundtrip_s)),
                                    Significant(series.TasksPerSecond()),
                                    cell(latency.p50_us),
                                    cell(latency.p90_us),
                                    cell(latency.p99_us),
                                    cell(latency.max_us),
                                    OrDash(series.client_us),
                                    OrDash(series.server_us),
                                    peak,
                                    absl::StrCat(series.wrong),
                                    RatioCell(ratios, "grpc_unary"),
                                    RatioCell(ratios, "grpc_messages")};
  for (const std::string& peer : flags_.peers) cells.push_back(RatioCell(ratios, peer));
  output_->Row(cells, std::move(row));
}

}  // namespace

int TasksCommand(absl::Span<const std::string> arguments, const std::string& command) {
  TasksFlags flags;
  FlagSet set("tasks", kUsage, kExamples);
  AddFlags(&set, &flags);
  if (const auto exit_status = ParseOrExplain(&set, arguments)) return *exit_status;

  Output output(flags.output, TasksTable(flags.peers));
  const Json head = MakeHead(command, set.values());
  output.Note(HeadText(head));
  Tasks tasks(flags, &output);
  const absl::Status run = tasks.Run();
  output.Note(absl::StrCat("wrong: ", tasks.wrong()));
  const absl::Status written = output.Finish(head);
  return ExitStatus("tasks", {run, written}, tasks.wrong());
}

}  // namespace shoal::bench
