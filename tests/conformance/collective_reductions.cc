// Operations that combine elements. Values are small whole numbers, so that every order of
// combining them gives the same bits, and the expected ones follow from whole-number arithmetic.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/half.h"
#include "tests/conformance/collective_suite.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using Ranks = Communicator::Ranks;
using Done = Communicator::Done;

/// A whole number, or a complex one with whole parts.
struct Value {
  int64_t re = 0;
  int64_t im = 0;
};

/// What `rank` holds at `index`: 0 to 3, or for products 1 and 2.
Value Input(int rank, int64_t index, ReduceOp op, DType dtype) {
  const int64_t mixed = (index * 5 + rank * 3 + index / 7) % 4;
  const Value value =
      op == ReduceOp::kProduct ? Value{1 + mixed % 2, mixed % 3 - 1} : Value{mixed, 2 - mixed};
  return IsComplex(dtype) ? value : Value{value.re, 0};
}

Value Combine(ReduceOp op, Value a, Value b) {
  switch (op) {
    case ReduceOp::kSum:
      return {a.re + b.re, a.im + b.im};
    case ReduceOp::kProduct:
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    case ReduceOp::kMin:
      return {std::min(a.re, b.re), 0};
    case ReduceOp::kMax:
      return {std::max(a.re, b.re), 0};
  }
  return {};
}

template <typename T>
void Put(std::byte*& at, T value) {
  std::memcpy(at, &value, sizeof(T));
  at += sizeof(T);
}

/// Writes one element and moves `at` behind it.
void Encode(DType dtype, Value value, std::byte*& at) {
  switch (dtype) {
    case DType::kBool:
      return Put(at, static_cast<uint8_t>(value.re != 0));
    case DType::kInt8:
    case DType::kUint8:
      return Put(at, static_cast<uint8_t>(value.re));
    case DType::kInt16:
    case DType::kUint16:
      return Put(at, static_cast<uint16_t>(value.re));
    case DType::kInt32:
    case DType::kUint32:
      return Put(at, static_cast<uint32_t>(value.re));
    case DType::kInt64:
    case DType::kUint64:
      return Put(at, value.re);
    case DType::kFloat16:
      return Put(at, kernels::FloatToFloat16(static_cast<float>(value.re)));
    case DType::kBfloat16:
      return Put(at, kernels::FloatToBfloat16(static_cast<float>(value.re)));
    case DType::kFloat32:
      return Put(at, static_cast<float>(value.re));
    case DType::kFloat64:
      return Put(at, static_cast<double>(value.re));
    case DType::kComplex64:
      Put(at, static_cast<float>(value.re));
      return Put(at, static_cast<float>(value.im));
    case DType::kComplex128:
      Put(at, static_cast<double>(value.re));
      return Put(at, static_cast<double>(value.im));
  }
}

/// Booleans take part as 0 and 1, whatever number they stand for.
Value Normal(DType dtype, Value value) {
  return dtype == DType::kBool ? Value{value.re != 0 ? 1 : 0, 0} : value;
}

std::vector<std::byte> InputBytes(int rank, const Args& args, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * kernels::ItemBytes(args.dtype)));
  std::byte* at = bytes.data();
  for (int64_t i = 0; i < count; ++i) Encode(args.dtype, Input(rank, i, args.op, args.dtype), at);
  return bytes;
}

std::vector<std::byte> ReducedBytes(int size, const Args& args, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * kernels::ItemBytes(args.dtype)));
  std::byte* at = bytes.data();
  for (int64_t i = 0; i < count; ++i) {
    Value value = Normal(args.dtype, Input(0, i, args.op, args.dtype));
    for (int rank = 1; rank < size; ++rank) {
      value = Combine(args.op, value, Normal(args.dtype, Input(rank, i, args.op, args.dtype)));
    }
    Encode(args.dtype, value, at);
  }
  return bytes;
}

/// Every dtype and reduction that is defined, over counts up to `count_max`; sums of two dtypes
/// over all counts.
template <typename Body>
void ForReductions(int64_t count_max, const Body& body) {
  for (const DType dtype : kernels::kAllDTypes) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax}) {
      if (!IsDefined(op, dtype)) continue;
      for (const int64_t count : kSuiteCounts) {
        const bool wanted =
            (dtype == DType::kFloat32 || dtype == DType::kFloat16) && op == ReduceOp::kSum;
        if (count > count_max && !wanted) continue;
        Args args;
        args.dtype = dtype;
        args.op = op;
        SCOPED_TRACE(testing::Message() << std::string(Name(op)) << " of " << count << " "
                                        << std::string(kernels::Name(dtype)));
        body(args, count);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(CollectiveSuite, ReduceCombinesAtTheRoot) {
  ForReductions(33, [&](Args args, int64_t count) {
    args.counts = {&count, 1};
    const std::vector<std::byte> reduced = ReducedBytes(size(), args, count);
    std::vector<std::vector<std::byte>> inputs;
    for (int rank = 0; rank < size(); ++rank) inputs.push_back(InputBytes(rank, args, count));
    ForPlacements(args, [&](const Args& placed, Placement placement) {
      std::vector<RankCase> ranks(static_cast<size_t>(size()));
      for (int rank = 0; rank < size(); ++rank) {
        RankCase& here = ranks[static_cast<size_t>(rank)];
        here.send = inputs[static_cast<size_t>(rank)];
        if (rank != placed.root) continue;
        here.expected = reduced;
        if (placement == Placement::kInPlace) here.in_place_offset = 0;
      }
      Check(ranks, [&](Communicator& member, Ranks local, Done done) {
        member.Reduce(placed, local, std::move(done));
      });
    });
  });
}

TEST_P(CollectiveSuite, AllReduceCombinesOnEveryRank) {
  ForReductions(1000, [&](Args args, int64_t count) {
    args.counts = {&count, 1};
    const std::vector<std::byte> reduced = ReducedBytes(size(), args, count);
    for (const Placement placement : {Placement::kSeparate, Placement::kInPlace}) {
      std::vector<RankCase> ranks(static_cast<size_t>(size()));
      for (int rank = 0; rank < size(); ++rank) {
        RankCase& here = ranks[static_cast<size_t>(rank)];
        here.send = InputBytes(rank, args, count);
        here.expected = reduced;
        if (placement == Placement::kInPlace) here.in_place_offset = 0;
      }
      Check(ranks, [&](Communicator& member, Ranks local, Done done) {
        member.AllReduce(args, local, std::move(done));
      });
    }
  });
}

TEST_P(CollectiveSuite, ReduceScatterGivesEachRankItsBlockOfTheReduction) {
  ForReductions(33, [&](Args args, int64_t count) {
    // The largest count is that of all blocks: what is long is the whole.
    const int64_t block = count > 1000 ? count / size() + 1 : count;
    for (const std::vector<int64_t>& counts : BlockCounts(size(), block)) {
      args.counts = counts;
      const int64_t item = kernels::ItemBytes(args.dtype);
      int64_t total = 0;
      for (const int64_t elements : counts) total += elements;
      const std::vector<std::byte> reduced = ReducedBytes(size(), args, total);
      std::vector<std::vector<std::byte>> inputs;
      for (int rank = 0; rank < size(); ++rank) inputs.push_back(InputBytes(rank, args, total));
      for (const Placement placement : {Placement::kSeparate, Placement::kInPlace}) {
        std::vector<RankCase> ranks(static_cast<size_t>(size()));
        int64_t offset = 0;
        for (int rank = 0; rank < size(); ++rank) {
          RankCase& here = ranks[static_cast<size_t>(rank)];
          const int64_t bytes = counts[static_cast<size_t>(rank)] * item;
          here.send = inputs[static_cast<size_t>(rank)];
          here.expected = Slice(reduced, offset, bytes);
          if (placement == Placement::kInPlace) here.in_place_offset = offset;
          offset += bytes;
        }
        Check(ranks, [&](Communicator& member, Ranks local, Done done) {
          member.ReduceScatter(args, local, std::move(done));
        });
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST_P(CollectiveSuite, FloatSumsHaveTheSameBitsOnEveryRankAndEachTime) {
  constexpr int64_t kCount = 5000;
  Args args;
  args.dtype = DType::kFloat32;
  args.counts = {&kCount, 1};
  const std::vector<int64_t> bytes(static_cast<size_t>(size()), kCount * 4);
  const std::vector<RankBuffers> ranks = MakeBuffers(bytes, bytes);
  for (int rank = 0; rank < size(); ++rank) {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 1.0F / static_cast<float>(3 + rank * 11 + static_cast<int>(i % 17));
    }
    const RankBuffers& here = ranks[static_cast<size_t>(rank)];
    CopyInNow(reinterpret_cast<const std::byte*>(values.data()),
              device::Span{const_cast<std::byte*>(here.send.data), here.send.bytes}, rank);
  }
  std::vector<std::byte> first;
  for (int round = 0; round < 3; ++round) {
    for (const absl::Status& status :
         CallAll(ranks, [&](Communicator&member, Ranks local, Done done) {
           member.AllReduce(args, local, std::move(done));
         })) {
      ASSERT_TRUE(status.ok()) << status;
    }
    for (int rank = 0; rank < size(); ++rank) {
      const std::vector<std::byte> seen = CopyOutNow(ranks[static_cast<size_t>(rank)].recv, rank);
      if (first.empty()) first = seen;
      ASSERT_TRUE(seen == first) << "rank " << rank << " round " << round;
    }
  }
}

}  // namespace
}  // namespace shoal::collective
