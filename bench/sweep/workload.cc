#include "bench/sweep/workload.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal::bench {
namespace {

using kernels::DType;

// SplitMix64's output step: every input gives another output.
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

template <typename T>
absl::Span<const T> ElementsOf(ConstBytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Turns random bits into numbers that add, multiply and sort exactly in T.
template <typename T>
void Tame(Bytes bytes, bool wide) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const Bits range = wide ? Bits{1} << 20 : Bits{16};
    auto* values = reinterpret_cast<T*>(bytes.data());
    for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      const auto number = static_cast<int64_t>(std::bit_cast<Bits>(values[i]) % range);
      values[i] = static_cast<T>(number - static_cast<int64_t>(range / 2));
    }
  }
}

// Integers wrap; computing as unsigned makes that defined here too.
template <typename T, typename Combine>
T Wrapping(T x, T y, Combine combine) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(combine(static_cast<Unsigned>(x), static_cast<Unsigned>(y)));
  } else {
    return combine(x, y);
  }
}

template <typename T>
T Combined(const std::string& function, T x, T y) {
  if (function == "add") return Wrapping(x, y, [](auto a, auto b) { return a + b; });
  if (function == "multiply") return Wrapping(x, y, [](auto a, auto b) { return a * b; });
  return Wrapping(x, y, [](auto a, auto b) { return 2 * a + b; });
}

template <typename T>
int64_t CountWrongSum(absl::Span<const T> values, ConstBytes reply) {
  using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  Accumulator sum = 0;
  for (const T value : values) sum += static_cast<Accumulator>(value);
  const Sum expected = static_cast<Sum>(sum);
  return std::memcmp(&expected, reply.data(), sizeof(Sum)) == 0 ? 0 : 1;
}

template <typename T>
int64_t CountWrongElements(absl::Span<const T> expected, absl::Span<const T> got) {
  int64_t wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) wrong += expected[i] == got[i] ? 0 : 1;
  return wrong;
}

template <typename T>
int64_t CountWrongResult(const Workload& workload, const wire::Pieces& arguments,
                         ConstBytes reply) {
  const std::string& function = workload.options().function;
  const absl::Span<const T> values = ElementsOf<T>(arguments.front());
  if (function == "sum") return CountWrongSum(values, reply);
  if (function == "sort") {
    std::vector<T> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return CountWrongElements<T>(sorted, ElementsOf<T>(reply));
  }
  const absl::Span<const T> others = ElementsOf<T>(arguments.back());
  const absl::Span<const T> got = ElementsOf<T>(reply);
  int64_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    wrong += got[i] == Combined(function, values[i], others[i]) ? 0 : 1;
  }
  return wrong;
}

int64_t CountWrongBytes(ConstBytes expected, ConstBytes got) {
  if (got.empty() || std::memcmp(expected.data(), got.data(), got.size()) == 0) return 0;
  return CountWrongElements<std::byte>(expected, got);
}

template <typename Visit>
auto VisitNumber(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kInt32:
      return visit(int32_t{});
    case DType::kInt64:
      return visit(int64_t{});
    case DType::kFloat32:
      return visit(float{});
    case DType::kFloat64:
      return visit(double{});
    default:
      SHOAL_UNREACHABLE("Create lets no other dtype pass");
  }
}

bool IsNumber(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

}  // namespace

void FillRandom(uint64_t state, Bytes bytes) {
  // Each word depends on its index alone, so the compiler may compute several at once.
  const uint64_t start = Mix(state + 0x9E3779B97F4A7C15U);
  const size_t words = bytes.size() / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = Mix(start + i * 0x9E3779B97F4A7C15U);
    std::memcpy(bytes.data() + i * sizeof(word), &word, sizeof(word));
  }
  const uint64_t last = Mix(start + words * 0x9E3779B97F4A7C15U);
  const size_t rest = bytes.size() % sizeof(last);
  if (rest > 0) std::memcpy(bytes.data() + words * sizeof(last), &last, rest);
}

absl::StatusOr<Workload> Workload::Create(WorkloadOptions options) {
  const int64_t item = kernels::ItemBytes(options.dtype);
  options.bytes = (options.bytes + item - 1) / item * item;
  Workload workload(std::move(options));
  const WorkloadOptions& in = workload.options_;
  workload.reply_bytes_ = in.bytes;
  workload.computes_ = in.op == Op::kApply && in.function != "echo";
  if (!workload.computes_) return workload;

  const bool binary = in.function == "add" || in.function == "multiply" || in.function == "axpy";
  if (!binary && in.function != "sum" && in.function != "sort") {
    return absl::InvalidArgumentError(
        absl::StrCat("the bench knows no results of op '", in.function, "'"));
  }
  if (!IsNumber(in.dtype)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "results of '", in.function, "' are checked for int32, int64, float32 and float64 only"));
  }
  if (binary) workload.argument_count_ = 2;
  const bool widened = in.dtype == DType::kInt32;
  if (in.function == "sum") workload.reply_bytes_ = widened ? int64_t{8} : item;
  return workload;
}

void Workload::Fill(uint64_t number, Bytes argument) const {
  FillRandom(Mix(options_.seed) + number, argument);
  if (options_.dtype == DType::kBool) {
    for (std::byte& value : argument) value &= std::byte{1};
  }
  if (!computes_) return;
  const bool wide = options_.function == "sort";
  VisitNumber(options_.dtype, [&](auto zero) { Tame<decltype(zero)>(argument, wide); });
}

int64_t Workload::CountWrongMoved(const wire::Pieces& arguments, ConstBytes reply) const {
  if (static_cast<int64_t>(reply.size()) != reply_bytes_) return std::max<int64_t>(reply_bytes_, 1);
  // A sum of one element may be wider than the element.
  if (reply_bytes_ > bytes()) return 0;
  return CountWrongBytes(arguments.front().first(reply.size()), reply);
}

int64_t Workload::CountWrong(const wire::Pieces& arguments, ConstBytes reply) const {
  if (!computes_) return CountWrongMoved(arguments, reply);
  if (static_cast<int64_t>(reply.size()) != reply_bytes_) return std::max<int64_t>(reply_bytes_, 1);
  return VisitNumber(options_.dtype, [&](auto zero) {
    return CountWrongResult<decltype(zero)>(*this, arguments, reply);
  });
}

}  // namespace shoal::bench
