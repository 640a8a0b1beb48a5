#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/for_dtype.h"
#include "kernels/cpu/sort.h"
#include "kernels/cpu/sort_key.h"

namespace shoal::kernels::cpu {
namespace {

// Runs are merged in pieces of about this many bytes, so that all passes but the first read cache.
constexpr int64_t kPieceBytes = 65'536;

/// Runs of one dtype, as typed spans, and the operations on them.
template <class Mapping>
class Runs {
 public:
  using Stored = typename Mapping::Stored;
  using Key = typename Mapping::Key;
  using Cuts = std::vector<int64_t>;

  explicit Runs(std::span<const SortedRun> runs) {
    for (const SortedRun& run : runs) {
      runs_.push_back({static_cast<const Stored*>(run.data), static_cast<size_t>(run.count)});
    }
  }

  int64_t Total() const {
    int64_t total = 0;
    for (const auto& run : runs_) total += static_cast<int64_t>(run.size());
    return total;
  }

  /// See SplitRuns. Bisects the keys, not the positions: the smallest key that has more than
  /// `rank` elements up to and with it is the first that is not wholly within the rank.
  Cuts Split(int64_t rank) const {
    if (rank == Total()) return Counts();
    Key low = std::numeric_limits<Key>::min();
    Key high = std::numeric_limits<Key>::max();
    while (low < high) {
      const Key middle = std::midpoint(low, high);
      if (CountUpTo(middle) > rank) {
        high = middle;
      } else {
        low = static_cast<Key>(middle + 1);
      }
    }
    return TakeEqual(low, rank);
  }

  /// The pieces of the runs between two cuts.
  Runs Between(const Cuts& from, const Cuts& to) const {
    Runs pieces;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const auto begin = static_cast<size_t>(from[i]);
      pieces.runs_.push_back(runs_[i].subspan(begin, static_cast<size_t>(to[i]) - begin));
    }
    return pieces;
  }

  /// Merges everything into `output`.
  void Merge(Stored* output) {
    DropEmpty();
    const auto piece = static_cast<size_t>(kPieceBytes / static_cast<int64_t>(sizeof(Stored)));
    if (runs_.size() <= 2) {
      MergeInCache(output);
      return;
    }
    std::vector<Stored> scratch[2];
    while (runs_.size() > 2) {
      const Runs front = TakePiece(std::max<size_t>(piece / runs_.size(), 1));
      front.MergePasses(output, scratch);
      output += front.Total();
      DropEmpty();
    }
    MergeInCache(output);
  }

 private:
  Runs() = default;

  static bool Less(Stored x, Stored y) { return Mapping::ToKey(x) < Mapping::ToKey(y); }
  static bool KeyLess(Stored x, Key key) { return Mapping::ToKey(x) < key; }
  static bool LessKey(Key key, Stored x) { return key < Mapping::ToKey(x); }

  static int64_t UpTo(std::span<const Stored> run, Key key) {
    return std::upper_bound(run.begin(), run.end(), key, &LessKey) - run.begin();
  }
  static int64_t Below(std::span<const Stored> run, Key key) {
    return std::lower_bound(run.begin(), run.end(), key, &KeyLess) - run.begin();
  }

  int64_t CountUpTo(Key key) const {
    int64_t count = 0;
    for (const auto& run : runs_) count += UpTo(run, key);
    return count;
  }

  Cuts Counts() const {
    Cuts counts;
    for (const auto& run : runs_) counts.push_back(static_cast<int64_t>(run.size()));
    return counts;
  }

  Cuts TakeEqual(Key key, int64_t rank) const {
    Cuts cuts;
    for (const auto& run : runs_) cuts.push_back(Below(run, key));
    int64_t missing = rank - std::accumulate(cuts.begin(), cuts.end(), int64_t{0});
    for (size_t i = 0; i < runs_.size(); ++i) {
      const int64_t taken = std::min(missing, UpTo(runs_[i], key) - cuts[i]);
      cuts[i] += taken;
      missing -= taken;
    }
    return cuts;
  }

  void DropEmpty() {
    std::erase_if(runs_, [](const std::span<const Stored>& run) { return run.empty(); });
  }

  // Takes from the front of every run what is at most the smallest of the runs' `step`-th
  // elements: at least `step` elements, or a run's end, and all of them before what is left.
  Runs TakePiece(size_t step) {
    Key limit = std::numeric_limits<Key>::max();
    for (const auto& run : runs_) {
      limit = std::min(limit, Mapping::ToKey(run[std::min(step, run.size()) - 1]));
    }
    Runs piece;
    for (auto& run : runs_) {
      const auto window = run.first(std::min(step, run.size()));
      const auto count = static_cast<size_t>(UpTo(window, limit));
      piece.runs_.push_back(run.first(count));
      run = run.subspan(count);
    }
    return piece;
  }

  void MergeInCache(Stored* output) const {
    if (runs_.size() == 2) {
      MergeTwo(runs_[0], runs_[1], output);
    } else if (runs_.size() == 1) {
      std::memcpy(output, runs_[0].data(), runs_[0].size_bytes());
    }
  }

  // Pairs of neighbours, pass after pass, between the two scratch vectors; the last pair goes to
  // the output.
  void MergePasses(Stored* output, std::vector<Stored> (&scratch)[2]) const {
    Runs current = *this;
    current.DropEmpty();
    const auto total = static_cast<size_t>(Total());
    for (size_t turn = 0; current.runs_.size() > 2; turn ^= 1U) {
      scratch[turn].resize(std::max(scratch[turn].size(), total));
      current = current.MergePairs(scratch[turn].data());
    }
    current.MergeInCache(output);
  }

  Runs MergePairs(Stored* output) const {
    Runs merged;
    for (size_t i = 0; i < runs_.size(); i += 2) {
      const auto second = i + 1 < runs_.size() ? runs_[i + 1] : std::span<const Stored>();
      MergeTwo(runs_[i], second, output);
      const size_t size = runs_[i].size() + second.size();
      merged.runs_.push_back({output, size});
      output += size;
    }
    return merged;
  }

  static void MergeTwo(std::span<const Stored> x, std::span<const Stored> y, Stored* output) {
    while (!x.empty() && !y.empty()) {
      const size_t half = std::min(x.size(), y.size());
      MergeEnds(x, y, half, {output, x.size() + y.size()});
      output += half;
    }
    const auto rest = x.empty() ? y : x;
    if (!rest.empty()) std::memcpy(output, rest.data(), rest.size_bytes());
  }

  // Arithmetic, because the compiler makes a branch of a conditional expression here.
  static Stored Select(std::ptrdiff_t first, Stored if_one, Stored if_zero) {
    using Bits = std::make_unsigned_t<Stored>;
    const auto mask = static_cast<Bits>(-first);
    const auto differing = static_cast<Bits>(if_one ^ if_zero);
    return static_cast<Stored>(static_cast<Bits>(if_zero) ^ static_cast<Bits>(differing & mask));
  }

  // The `half` smallest to the front of `output`, the `half` largest to its back; both runs lose
  // them.
  //
  // Without branches on the data, which would be mispredicted every other time; from both ends at
  // once, so that two independent chains of loads are under way. With `half` at most the size of
  // either run no bounds need checking: each end takes at most `half` elements of a run, and what
  // one end took never looks smaller (or larger) to the other than what is left.
  static void MergeEnds(std::span<const Stored>& x, std::span<const Stored>& y, size_t half,
                        std::span<Stored> output) {
    Stored* front = output.data();
    Stored* back = output.data() + output.size();
    const Stored* x_front = x.data();
    const Stored* y_front = y.data();
    const Stored* x_back = x.data() + x.size();
    const Stored* y_back = y.data() + y.size();
    for (size_t i = 0; i < half; ++i) {
      const Stored low_x = *x_front;
      const Stored low_y = *y_front;
      const std::ptrdiff_t y_first = Less(low_y, low_x);
      *front++ = Select(y_first, low_y, low_x);
      y_front += y_first;
      x_front += 1 - y_first;
      const Stored high_x = x_back[-1];
      const Stored high_y = y_back[-1];
      const std::ptrdiff_t x_last = Less(high_y, high_x);
      *--back = Select(x_last, high_x, high_y);
      x_back -= x_last;
      y_back -= 1 - x_last;
    }
    x = {x_front, static_cast<size_t>(x_back - x_front)};
    y = {y_front, static_cast<size_t>(y_back - y_front)};
  }

  std::vector<std::span<const Stored>> runs_;
};

}  // namespace

std::vector<int64_t> SplitRuns(DType dtype, std::span<const SortedRun> runs, int64_t rank) {
  return ForRealDType(dtype, [runs, rank]<DType kDType>() {
    const Runs<SortKey<kDType>> typed(runs);
    SHOAL_CHECK(rank >= 0 && rank <= typed.Total());
    return typed.Split(rank);
  });
}

void MergeRuns(const MergeArgs& args) {
  if (args.count == 0) return;
  ForRealDType(args.dtype, [&args]<DType kDType>() {
    const Runs<SortKey<kDType>> typed(args.runs);
    SHOAL_CHECK(args.first_rank >= 0 && args.count > 0 &&
                args.first_rank + args.count <= typed.Total());
    using Stored = typename SortKey<kDType>::Stored;
    typed.Between(typed.Split(args.first_rank), typed.Split(args.first_rank + args.count))
        .Merge(static_cast<Stored*>(args.output));
  });
}

}  // namespace shoal::kernels::cpu
