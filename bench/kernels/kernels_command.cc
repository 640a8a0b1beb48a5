#include "bench/kernels/kernels_command.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "bench/command.h"
#include "bench/flags.h"
#include "bench/kernels/array_peer.h"
#include "bench/kernels/measure.h"
#include "bench/kernels/points.h"
#include "bench/kernels/row.h"
#include "bench/output.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "programs on arrays, in this process, without a server.\n"
    "\n"
    "Each program is read, typed and planned once, then run on arrays that are there, cut for the\n"
    "threads as a worker cuts its work. In the same rounds the memory alone moves the same bytes,\n"
    "and NumPy (as written; with out=), numexpr and PyTorch do the same, as far as the Python\n"
    "of --peer-python has them. All results are checked; one wrong element fails the run.";

constexpr char kExamples[] =
    "  shoal-bench kernels --elements 1024:16777216\n"
    "  shoal-bench kernels --cases hypot,axpy --elements 16777216 --threads 1 --repeat 15\n"
    "  shoal-bench kernels --cases sort --dtypes int32 --elements 1024:1048576:32x --peers numpy\n"
    "  shoal-bench kernels --elements 4096 --peer-python=        # without peers\n";

struct KernelFlags {
  PointChoice points;
  int64_t repeat = 5;
  std::vector<std::string> peers = AllArrayPeers();
  std::string peer_python = "build/bench-peers/bin/python,/usr/bin/python3";
  int64_t peer_timeout_s = 120;
  OutputOptions output;
};

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const KernelCase& which : AllCases()) names.push_back(which.name);
  return names;
}

void AddFlags(FlagSet* set, KernelFlags* flags) {
  flags->points.cases = CaseNames();
  flags->points.dtypes = {"float32", "float64", "int32", "int64"};
  flags->points.elements = "1024:134217728";
  flags->points.threads = "1,2";
  set->AddChoices({"cases", '\0', "", "What is computed; several by commas."}, CaseNames(),
                  &flags->points.cases);
  set->AddChoices({"dtypes", '\0', "", "Of the inputs, where a case has them."},
                  flags->points.dtypes, &flags->points.dtypes);
  set->AddText({"elements", '\0', "N|A:B|A:B:Fx", "Elements of an array; A:B: by a factor of 8."},
               &flags->points.elements);
  set->AddText({"threads", '\0', "N|A:B:Fx", "Threads that share the work."},
               &flags->points.threads);
  set->AddInt({"repeat", '\0', "N", "Rounds; medians are printed."}, &flags->repeat);
  set->AddChoices({"peers", '\0', "", "Compared with these, where they can be imported."},
                  AllArrayPeers(), &flags->peers);
  set->AddText(
      {"peer-python", '\0', "PATH,...", "Their Python: the first that is there; none: no peers."},
      &flags->peer_python);
  set->AddInt({"peer-timeout", '\0', "SECONDS", "For an answer of a peer."},
              &flags->peer_timeout_s);
  AddOutputFlags(set, &flags->output);
}

std::string FirstThatIsThere(const std::string& paths) {
  for (const absl::string_view part : absl::StrSplit(paths, ',', absl::SkipEmpty())) {
    std::string path(part);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

/// All rows of one run.
class KernelsRun {
 public:
  KernelsRun(const KernelFlags& flags, Output* output) : flags_(flags), output_(output) {}

  absl::Status Run() {
    if (flags_.repeat < 1 || flags_.peer_timeout_s < 1) {
      return absl::InvalidArgumentError("--repeat and --peer-timeout are at least 1");
    }
    SHOAL_ASSIGN_OR_RETURN(const std::vector<CasePoint> points, PointsOf(flags_.points));
    int64_t elements_max = 0;
    for (const CasePoint& point : points) elements_max = std::max(elements_max, point.elements);
    SHOAL_ASSIGN_OR_RETURN(measuring_, KernelMeasuring::Create(elements_max));
    SHOAL_ASSIGN_OR_RETURN(memory_, SharedMemory::Create(elements_max * int64_t{8}));
    StartPeers(points);
    output_->Begin(KernelTable(columns_));
    for (const CasePoint& point : points) SHOAL_RETURN_IF_ERROR(RunPoint(point));
    return absl::OkStatus();
  }

  int64_t wrong() const { return wrong_; }

 private:
  // One process for each number of threads: some libraries read it only at their start.
  void StartPeers(const std::vector<CasePoint>& points) {
    ArrayPeerOptions options;
    options.python = FirstThatIsThere(flags_.peer_python);
    options.subjects = flags_.peers;
    options.timeout = std::chrono::seconds(flags_.peer_timeout_s);
    if (flags_.peer_python.empty()) return;
    for (const CasePoint& point : points) {
      if (peers_.contains(point.threads)) continue;
      options.threads = point.threads;
      auto peer = ArrayPeer::Start(options, memory_.get());
      if (!peer.ok()) {
        output_->Note(absl::StrCat("peers are left out: ", std::string(peer.status().message())));
        peers_.clear();
        return;
      }
      peers_[point.threads] = *std::move(peer);
    }
    NotePeers(peers_.begin()->second->versions());
  }

  void NotePeers(const std::map<std::string, std::string>& versions) {
    for (const auto& [name, version] : versions) {
      output_->Note(absl::StrCat(name, " ", version));
    }
    std::set<std::string> absent;
    for (const std::string& peer : flags_.peers) {
      const std::string library = peer == "numpy_out" ? "numpy" : peer;
      if (versions.contains(library)) {
        columns_.push_back(peer);
      } else if (absent.insert(library).second) {
        output_->Note(absl::StrCat(library, " is left out: that Python cannot import it"));
      }
    }
  }

  absl::Status RunPoint(const CasePoint& point) {
    RoundOptions options;
    options.repeat = flags_.repeat;
    const auto peer = peers_.find(point.threads);
    SHOAL_ASSIGN_OR_RETURN(
        const CaseFigures figures,
        measuring_->Measure(point, options, peer == peers_.end() ? nullptr : peer->second.get()));
    if (!figures.not_built.empty() && not_built_.insert(point.which->name).second) {
      // The lines after the first point at the place in a text that stands here already.
      const std::vector<std::string> lines = absl::StrSplit(figures.not_built, '\n');
      output_->Note(absl::StrCat(point.which->program, " is not built: ", lines.front()));
    }
    wrong_ += WrongOf(figures);
    AddRows(point, figures, columns_, output_);
    return absl::OkStatus();
  }

  const KernelFlags& flags_;
  Output* const output_;
  std::unique_ptr<KernelMeasuring> measuring_;
  std::unique_ptr<SharedMemory> memory_;
  std::map<int64_t, std::unique_ptr<ArrayPeer>> peers_;  // By threads. They use the memory.
  std::vector<std::string> columns_;
  std::set<std::string> not_built_;  // Cases that were named already.
  int64_t wrong_ = 0;
};

}  // namespace

int KernelsCommand(absl::Span<const std::string> arguments, const std::string& command) {
  KernelFlags flags;
  FlagSet set("kernels", kUsage, kExamples);
  AddFlags(&set, &flags);
  if (const auto exit_status = ParseOrExplain(&set, arguments)) return *exit_status;

  Output output(flags.output, KernelTable({}));
  const Json head = MakeHead(command, set.values());
  output.Note(HeadText(head));
  KernelsRun kernels(flags, &output);
  const absl::Status run = kernels.Run();
  output.Note(absl::StrCat("wrong: ", kernels.wrong()));
  const absl::Status written = output.Finish(head);
  return ExitStatus("kernels", {run, written}, kernels.wrong());
}

}  // namespace shoal::bench
