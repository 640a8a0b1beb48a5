#include "bench/collectives/experiment.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/collectives/layout.h"
#include "bench/collectives/local_ranks.h"
#include "bench/collectives/mpi_peer.h"
#include "bench/stats.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;
using collective::Operation;

constexpr int kWarmup = 5;
constexpr char kMpi[] = "mpi4py";

// In the order in which rows are printed.
struct Key {
  Operation operation = Operation::kScatter;
  int64_t ranks = 0;
  bool dot = false;
  int64_t count = 0;
  std::string subject;

  friend auto operator<=>(const Key&, const Key&) = default;
};

struct Times {
  std::vector<double> seconds;  // One a repeat, all iterations.
  int64_t wrong = 0;
};

std::string SubjectOf(Place place) { return place == Place::kView ? "shoal_view" : "shoal_local"; }

// What MPI's calls do: scatter and gather have two buffers, a broadcast has one. And the views
// that ranks of one process can have instead.
std::vector<Place> PlacesOf(Operation operation) {
  if (operation == Operation::kBroadcast) return {Place::kIn};
  return {Place::kOut, Place::kView};
}

std::optional<Operation> OperationOf(const std::string& name) {
  for (const Operation operation : AllOperations()) {
    if (name == std::string(collective::Name(operation))) return operation;
  }
  return std::nullopt;
}

std::string PlaceText(const Key& key) {
  if (key.subject == "shoal_view") return Name(Place::kView);
  return Name(PlacesOf(key.operation).front());
}

class Experiment {
 public:
  Experiment(const ExperimentOptions& options, Output* output)
      : options_(options), output_(output), mpi_(options.mpi) {}

  absl::Status Run() {
    for (const int64_t ranks : options_.ranks) {
      for (int64_t repeat = 0; repeat < options_.repeat; ++repeat) {
        for (const bool dot : {false, true}) {
          SHOAL_RETURN_IF_ERROR(RunLocal(ranks, dot));
          if (mpi_) RunPeer(ranks, dot);
        }
      }
    }
    for (const auto& [key, times] : times_) Report(key, times);
    return absl::OkStatus();
  }

  int64_t wrong() const {
    int64_t wrong = 0;
    for (const auto& [key, times] : times_) wrong += times.wrong;
    return wrong;
  }

 private:
  absl::Status RunLocal(int64_t ranks, bool dot) {
    const int64_t largest = *std::max_element(options_.counts.begin(), options_.counts.end());
    SHOAL_ASSIGN_OR_RETURN(
        const auto local,
        LocalRanks::Create(static_cast<int>(ranks),
                           largest * ranks * static_cast<int64_t>(sizeof(double))));
    for (const Operation operation :
         {Operation::kScatter, Operation::kGather, Operation::kBroadcast}) {
      for (const Place place : PlacesOf(operation)) {
        for (const int64_t count : options_.counts) {
          const CollectiveCase which{operation, place, static_cast<int>(ranks),
                                     kernels::DType::kFloat64, count};
          SHOAL_RETURN_IF_ERROR(RunCase(which, dot, local.get()));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunCase(const CollectiveCase& which, bool dot, LocalRanks* local) {
    Times& times = times_[{which.operation, which.ranks, dot, which.count, SubjectOf(which.place)}];
    local->Fill(which);
    for (int i = 0; i < kWarmup; ++i) SHOAL_RETURN_IF_ERROR(local->Run(which));
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < options_.iterations; ++i) {
      SHOAL_RETURN_IF_ERROR(local->Run(which));
      if (dot) SHOAL_RETURN_IF_ERROR(local->Dot(which));
    }
    times.seconds.push_back(Seconds(Clock::now() - begin));
    times.wrong += local->CountWrong(which);
    return absl::OkStatus();
  }

  void RunPeer(int64_t ranks, bool dot) {
    const auto results =
        RunMpi({options_.python, options_.counts, ranks, options_.iterations, dot});
    if (!results.ok()) {
      output_->Note(absl::StrCat("mpi4py is left out: ", std::string(results.status().message())));
      mpi_ = false;
      return;
    }
    for (const MpiResult& result : *results) {
      const auto operation = OperationOf(result.op);
      if (!operation.has_value()) continue;
      Times& times = times_[{*operation, ranks, dot, result.count, kMpi}];
      times.seconds.push_back(result.seconds);
      times.wrong += result.wrong;
    }
  }

  void Report(const Key& key, const Times& times) {
    const double seconds = Median(times.seconds);
    const double iteration_us = seconds / static_cast<double>(options_.iterations) * 1e6;
    const int64_t block = key.count * static_cast<int64_t>(sizeof(double));
    const int64_t bytes = key.operation == Operation::kBroadcast ? block : block * key.ranks;
    const double algbw = static_cast<double>(bytes) / iteration_us / 1e3;

    std::optional<double> ratio;
    Key peer = key;
    peer.subject = kMpi;
    const auto it = times_.find(peer);
    if (key.subject != kMpi && it != times_.end()) ratio = Median(it->second.seconds) / seconds;

    Json row = {{"bench", "collectives"},
                {"subject", key.subject},
                {"op", std::string(collective::Name(key.operation))},
                {"place", PlaceText(key)},
                {"bytes", bytes},
                {"count", key.count},
                {"dtype", "float64"},
                {"ranks", key.ranks},
                {"dot", key.dot},
                {"iterations", options_.iterations},
                {"roundtrip_s", seconds},
                {"p50_us", iteration_us},
                {"algbw_gb_per_s", algbw},
                {"wrong", times.wrong},
                {"ratio", Json::object()}};
    if (ratio.has_value()) row["ratio"][kMpi] = *ratio;
    output_->Row({std::string(collective::Name(key.operation)), absl::StrCat(key.count),
                  absl::StrCat(key.ranks), key.dot ? "yes" : "no", key.subject,
                  Significant(seconds), Significant(iteration_us), Significant(algbw),
                  absl::StrCat(times.wrong), Significant(ratio)},
                 std::move(row));
  }

  const ExperimentOptions& options_;
  Output* const output_;
  bool mpi_;
  std::map<Key, Times> times_;
};

}  // namespace

Table ExperimentTable() {
  return Table({{"op", 10, true, ""},
                {"N a rank", 8, false, ""},
                {"ranks", 5, false, ""},
                {"dot", 3, true, ""},
                {"what", 11, true, ""},
                {"total s", 9, false, ""},
                {"us/iteration", 12, false, ""},
                {"GB/s", 7, false, ""},
                {"#wrong", 6, false, ""},
                {"/mpi4py", 8, false, ""}});
}

absl::Status RunExperiment(const ExperimentOptions& options, Output* output, int64_t* wrong) {
  Experiment experiment(options, output);
  const absl::Status status = experiment.Run();
  *wrong += experiment.wrong();
  return status;
}

}  // namespace shoal::bench
