#include "bench/collectives/table_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/collectives/local_ranks.h"
#include "bench/stats.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 5;

struct Figures {
  Quantiles time;                      ///< Of one call.
  std::optional<double> memcpy_ratio;  ///< Nothing where nothing is copied, or values combined.
  int64_t wrong = 0;
};

std::string_view NameOf(kernels::DType dtype) { return kernels::Name(dtype); }

// What one thread's memcpy takes for the same blocks between the same places.
Duration TimeMoves(const LocalRanks& ranks, const std::vector<Move>& moves, int64_t item_bytes) {
  const Clock::time_point begin = Clock::now();
  for (const Move& move : moves) {
    const device::Span to = ranks.SpanOf(move.to, item_bytes);
    std::memcpy(to.data, ranks.SpanOf(move.from, item_bytes).data, static_cast<size_t>(to.bytes));
  }
  return Clock::now() - begin;
}

class Measuring {
 public:
  Measuring(const CollectiveTableOptions& options, const CollectiveCase& which, LocalRanks* ranks)
      : options_(options), which_(which), ranks_(ranks) {}

  absl::StatusOr<Figures> Run() {
    Figures figures;
    ranks_->Fill(which_);
    SHOAL_RETURN_IF_ERROR(ranks_->Run(which_));
    figures.wrong = ranks_->CountWrong(which_);
    for (int64_t i = 0; i < options_.warmup; ++i) SHOAL_RETURN_IF_ERROR(ranks_->Run(which_));

    const std::vector<Move> moves = MovesOf(which_);
    std::vector<Duration> times;
    std::vector<double> ratios;
    for (int round = 0; round < kRounds; ++round) {
      // Reductions in place grow their own input: begin each round with small numbers.
      ranks_->Fill(which_);
      SHOAL_ASSIGN_OR_RETURN(const double call_us, RunRound(&times));
      if (!moves.empty()) ratios.push_back(MemcpyMicroseconds(moves) / call_us);
    }
    // A call that only moves leaves the same result however often it is made.
    if (!Reduces(which_.operation)) figures.wrong += ranks_->CountWrong(which_);
    figures.time = QuantilesOf(times);
    if (!ratios.empty()) figures.memcpy_ratio = Median(ratios);
    return figures;
  }

 private:
  // Median of a round, in microseconds.
  absl::StatusOr<double> RunRound(std::vector<Duration>* times) {
    std::vector<double> microseconds;
    for (int64_t i = 0; i < options_.iterations; ++i) {
      const Clock::time_point begin = Clock::now();
      SHOAL_RETURN_IF_ERROR(ranks_->Run(which_));
      times->push_back(Clock::now() - begin);
      microseconds.push_back(Seconds(times->back()) * 1e6);
    }
    return Median(microseconds);
  }

  double MemcpyMicroseconds(const std::vector<Move>& moves) {
    const int64_t item = kernels::ItemBytes(which_.dtype);
    std::vector<double> microseconds;
    for (int64_t i = 0; i < options_.iterations; ++i) {
      microseconds.push_back(Seconds(TimeMoves(*ranks_, moves, item)) * 1e6);
    }
    return Median(microseconds);
  }

  const CollectiveTableOptions& options_;
  const CollectiveCase which_;
  LocalRanks* const ranks_;
};

std::string OperationName(const CollectiveCase& which) {
  return std::string(collective::Name(which.operation));
}

void Report(const CollectiveCase& which, const Figures& figures, Output* output) {
  const auto bytes = static_cast<double>(TotalBytes(which));
  const double algbw = figures.time.p50_us > 0 ? bytes / figures.time.p50_us / 1e3 : 0;
  const double busbw = algbw * BusFactor(which);
  const bool moves = TotalBytes(which) > 0;
  const auto bandwidth = [&](double value) { return moves ? Json(value) : Json(nullptr); };
  Json row = {{"bench", "collectives"},
              {"subject", "shoal_local"},
              {"op", OperationName(which)},
              {"place", Name(which.place)},
              {"bytes", TotalBytes(which)},
              {"count", which.count},
              {"dtype", std::string(NameOf(which.dtype))},
              {"ranks", which.ranks},
              {"dot", false},
              {"p50_us", figures.time.p50_us},
              {"p90_us", figures.time.p90_us},
              {"p99_us", figures.time.p99_us},
              {"max_us", figures.time.max_us},
              {"algbw_gb_per_s", bandwidth(algbw)},
              {"busbw_gb_per_s", bandwidth(busbw)},
              {"wrong", figures.wrong},
              {"ratio", Json::object()}};
  if (figures.memcpy_ratio.has_value()) row["ratio"]["memcpy"] = *figures.memcpy_ratio;
  output->Row(
      {OperationName(which), Name(which.place), absl::StrCat(which.ranks),
       absl::StrCat(TotalBytes(which)), absl::StrCat(which.count), std::string(NameOf(which.dtype)),
       Significant(figures.time.p50_us), Significant(figures.time.p99_us),
       moves ? Significant(algbw) : "-", moves ? Significant(busbw) : "-",
       absl::StrCat(figures.wrong), Significant(figures.memcpy_ratio)},
      std::move(row));
}

// The elements of a block of an operation whose whole is about `bytes`: one at least.
int64_t BlockCount(const CollectiveCase& which, int64_t bytes) {
  CollectiveCase one = which;
  one.count = 1;
  const int64_t unit = TotalBytes(one);
  if (unit == 0 || bytes == 0) return 0;
  return std::max<int64_t>(bytes / unit, 1);
}

// Room for the largest size, and for one element a block of every rank.
int64_t RegionBytes(int64_t largest, int64_t ranks) {
  return std::max(largest, ranks * static_cast<int64_t>(sizeof(double)));
}

}  // namespace

Table CollectiveTable() {
  return Table({{"op", 14, true, ""},
                {"place", 5, true, ""},
                {"ranks", 5, false, ""},
                {"bytes", 10, false, ""},
                {"count", 9, false, ""},
                {"dtype", 7, true, ""},
                {"p50", 8, false, "time us"},
                {"p99", 8, false, "time us"},
                {"algbw", 7, false, "GB/s"},
                {"busbw", 7, false, "GB/s"},
                {"#wrong", 6, false, ""},
                {"/memcpy", 7, false, ""}});
}

absl::Status RunCollectiveTable(const CollectiveTableOptions& options, Output* output,
                                int64_t* wrong) {
  const int64_t largest = *std::max_element(options.sizes.begin(), options.sizes.end());
  for (const int64_t ranks : options.ranks) {
    SHOAL_ASSIGN_OR_RETURN(
        const auto local, LocalRanks::Create(static_cast<int>(ranks), RegionBytes(largest, ranks)));
    for (const collective::Operation operation : options.operations) {
      for (const Place place : {Place::kOut, Place::kIn, Place::kView}) {
        if (!Allows(operation, place)) continue;
        for (const int64_t bytes : options.sizes) {
          CollectiveCase which{operation, place, static_cast<int>(ranks), options.dtype, 0};
          which.count = BlockCount(which, bytes);
          SHOAL_ASSIGN_OR_RETURN(const Figures figures,
                                 Measuring(options, which, local.get()).Run());
          *wrong += figures.wrong;
          Report(which, figures, output);
          if (operation == collective::Operation::kBarrier) break;  // It has no size.
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::bench
