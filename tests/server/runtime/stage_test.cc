#include "server/runtime/stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sort.h"
#include "server/plan/typing.h"
#include "tests/server/runtime/calls.h"
#include "tests/support/one_op.h"

namespace shoal::runtime {
namespace {

using kernels::DType;

struct Input {
  plan::ArrayType type;
  std::string bytes;
};

/// The result where all lies in one piece, on one thread: what tests of the kernels compare with
/// loops over single elements.
std::string WholeResult(const kernels::OpInfo& op, const std::vector<Input>& inputs,
                        const plan::ArrayType& output) {
  std::string bytes(static_cast<size_t>(support::ByteCount(output)), '\0');
  const int64_t count = inputs[0].type.shape.element_count();
  if (op.form == kernels::OpForm::kReduce) {
    kernels::ReduceArgs args{.dtype = inputs[0].type.dtype, .inputs = {}, .count = count};
    for (size_t i = 0; i < inputs.size(); ++i) args.inputs[i] = inputs[i].bytes.data();
    kernels::cpu::ReduceAll(op, args, bytes.data());
    return bytes;
  }
  if (op.form == kernels::OpForm::kSort) {
    bytes = inputs[0].bytes;
    const int64_t row = inputs[0].type.shape.extents().back();
    kernels::cpu::RunSort(op, {.dtype = output.dtype,
                               .data = bytes.data(),
                               .row_count = row == 0 ? 0 : count / row,
                               .row_elements = row});
    return bytes;
  }
  if (op.form == kernels::OpForm::kMove) return inputs[0].bytes;
  std::vector<const void*> data;
  for (const Input& input : inputs) data.push_back(input.bytes.data());
  support::OneKernel one = support::OneOp({op, inputs.back().type.dtype}, data,
                                          {bytes.data(), output.shape.element_count()},
                                          std::vector<kernels::Scalar>(op.params.size(), 3.0));
  for (size_t i = 0; i < inputs.size(); ++i) {
    one.inputs[i].single = inputs[i].type.shape.element_count() == 1 && one.count != 1;
  }
  kernels::cpu::RunMap(one.kernel, one.args(), {0, one.count});
  return bytes;
}

/// The same in plain int32 arithmetic, where the kernels have no say.
std::string PlainResult(const std::string& op, const std::vector<Input>& inputs) {
  const auto x = support::FromBytes<uint32_t>(inputs[0].bytes);
  const auto y = inputs.size() > 1 ? support::FromBytes<uint32_t>(inputs[1].bytes) : x;
  std::vector<uint32_t> out;
  int64_t sum = 0;
  uint32_t dot = 0;
  for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    if (x.empty() || y.empty()) break;
    const uint32_t a = x[x.size() == 1 ? 0 : i];
    const uint32_t b = y[y.size() == 1 ? 0 : i];
    sum += static_cast<int32_t>(a);
    dot += a * b;
    out.push_back(op == "axpy" ? 3 * a + b : op == "add" ? a + b : op == "multiply" ? a * b : a);
  }
  if (op == "sum") return support::ToBytes(std::vector<int64_t>{sum});
  if (op == "dot") return support::ToBytes(std::vector<uint32_t>{dot});
  if (op == "sort" && !out.empty()) {
    const auto row = inputs[0].type.shape.extents().back();
    for (auto at = out.begin(); at != out.end(); at += row) {
      std::sort(at, at + row, [](uint32_t a, uint32_t b) {
        return static_cast<int32_t>(a) < static_cast<int32_t>(b);
      });
    }
  }
  return support::ToBytes(out);
}

std::string Elements(DType dtype, size_t bytes, uint64_t seed) {
  std::string made = support::RandomBytes(bytes, seed);
  // Bits of any kind are numbers but for bool.
  if (dtype == DType::kBool) {
    for (char& byte : made) byte &= 1;
  }
  return made;
}

/// One random call: an op, its inputs, where they lie and where the output goes.
class RandomCase {
 public:
  explicit RandomCase(uint64_t seed) : random_(seed) {
    const auto ops = kernels::AllOps();
    op_ = &ops[random_() % ops.size()];
    constexpr DType kDTypes[] = {DType::kBool,    DType::kInt8,    DType::kInt32,
                                 DType::kFloat16, DType::kFloat32, DType::kComplex128};
    do {
      dtype_ = kDTypes[random_() % std::size(kDTypes)];
    } while (!op_->Supports(dtype_));
    const std::vector<std::vector<int64_t>> shapes = {
        {},     {0},    {1},    {2},     {7},    {33},   {3, 5},    {7, 0},
        {0, 4}, {1, 9}, {9, 1}, {2, 64}, {5000}, {8200}, {4, 3, 2}, {13, 500}};
    std::vector<int64_t> shape = shapes[random_() % shapes.size()];
    if (op_->form == kernels::OpForm::kSort && shape.empty()) shape = {1};
    if (op_->needs_elements && std::ranges::find(shape, 0) != shape.end()) shape = {1};
    const int count = op_->form == kernels::OpForm::kMove ? 1 : op_->inputs_max;
    for (int i = 0; i < count; ++i) {
      // Now and then a single element, which is broadcast.
      const bool single = op_->form == kernels::OpForm::kMap && i == 1 && random_() % 4 == 0;
      const plan::ArrayType type{op_->condition && i == 0 ? DType::kBool : dtype_,
                                 *plan::Shape::Create(single ? std::vector<int64_t>{} : shape)};
      inputs.push_back(
          {type, Elements(type.dtype, static_cast<size_t>(support::ByteCount(type)), random_())});
      places.push_back(kAllPlaces[random_() % std::size(kAllPlaces)]);
    }
    to = kAllPlaces[random_() % std::size(kAllPlaces)];
    has_layout = random_() % 3 != 0;
    route = static_cast<plan::Route>(1 + random_() % 3);
  }

  const kernels::OpInfo& op() const { return *op_; }

  std::vector<Input> inputs;
  std::vector<Place> places;
  Place to;
  bool has_layout;
  plan::Route route;

 private:
  std::mt19937_64 random_;
  const kernels::OpInfo* op_;
  DType dtype_;
};

class StageTest : public ::testing::TestWithParam<int> {
 protected:
  plan::Destination DestinationOf(const RandomCase& one, int64_t output_bytes) {
    switch (one.to) {
      case Place::kRequest:
        return plan::ReturnToCaller{};
      case Place::kLease:
        return calls_.LeaseOf(std::string(static_cast<size_t>(output_bytes), '\xee'));
      case Place::kBlock:
      case Place::kFewBlocks:
      case Place::kReplicated:
      case Place::kSingle:
        break;
    }
    plan::StoreAs store;
    store.has_distribution = one.has_layout;
    if (one.has_layout) store.distribution = LayoutOf(one.to, *engine_->workers);
    return store;
  }

  void ExpectOutput(const CallOutput& output, const std::string& wanted) {
    EXPECT_EQ(Calls::BytesOf(output.data), wanted);
    if (!output.stored) return;
    const ArrayUse array = *engine_->catalogue->Find({output.stored, ""});
    for (size_t rank = 0; rank < array->shards.size(); ++rank) {
      if (array->distribution.kind == plan::DistributionKind::kBlock) continue;
      EXPECT_EQ(Calls::BytesOf(ReplicaOperand(*array, rank, nullptr)), wanted);
    }
  }

  void RunCase(const RandomCase& one) {
    std::vector<plan::Argument> arguments;
    std::vector<plan::ArrayType> types;
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      arguments.push_back(calls_.Argument(one.inputs[i].type, one.inputs[i].bytes, one.places[i]));
      types.push_back(one.inputs[i].type);
    }
    plan::Call call = Calls::Make(std::string(one.op().name).c_str(), std::move(arguments));
    const plan::ArrayType output = plan::TypeCall(call, types)->outputs.front();
    call.destinations.push_back(DestinationOf(one, support::ByteCount(output)));
    call.route = one.route;
    const auto result = calls_.Run(std::move(call));
    ASSERT_TRUE(result.ok()) << result.status();
    const std::string wanted = WholeResult(one.op(), one.inputs, output);
    ExpectOutput(result->outputs[0], wanted);
    constexpr std::array<absl::string_view, 7> kPlain = {"echo", "axpy", "add", "multiply",
                                                         "sum",  "dot",  "sort"};
    const bool is_plain = std::ranges::find(kPlain, std::string(one.op().name)) != kPlain.end();
    if (is_plain && one.inputs[0].type.dtype == DType::kInt32) {
      EXPECT_EQ(wanted, PlainResult(std::string(one.op().name), one.inputs));
    }
  }

  support::TestEngine engine_{
      {.workers = GetParam(), .worker_bytes = 16 * kMiB, .front_bytes = 32 * kMiB}};
  Calls calls_{engine_.get()};
};

TEST_P(StageTest, EveryLayoutGivesTheBitsOfOnePiece) {
  for (uint64_t seed = 0; seed < 250; ++seed) {
    const RandomCase one(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", op " << std::string(one.op().name));
    RunCase(one);
    if (HasFailure()) return;
    calls_.Clear();
    ASSERT_EQ(engine_.BytesInUse(), 0);
  }
}

TEST_P(StageTest, LargeArraysInTheRequestAreCutOverTheWorkers) {
  constexpr size_t kCount = 3'600'000;  // Beyond what one worker does at once, for each op.
  const plan::ArrayType type = support::Type(DType::kUint8, {int64_t{kCount}});
  const Input x{type, support::RandomBytes(kCount, 1)};
  for (const char* op : {"add", "sum", "sort"}) {
    const kernels::OpInfo& info = *kernels::FindOp(op);
    std::vector<Input> inputs(static_cast<size_t>(info.inputs_max), x);
    if (info.form == kernels::OpForm::kSort) {
      inputs[0] = {support::Type(DType::kUint8, {60'000}), x.bytes.substr(0, 60'000)};
    }
    std::vector<plan::Argument> arguments;
    std::vector<plan::ArrayType> types;
    for (const Input& input : inputs) {
      arguments.push_back(calls_.Argument(input.type, input.bytes, Place::kRequest));
      types.push_back(input.type);
    }
    plan::Call call = Calls::Make(op, std::move(arguments));
    const plan::ArrayType output = plan::TypeCall(call, types)->outputs.front();
    const auto result = calls_.Run(std::move(call));
    ASSERT_TRUE(result.ok()) << result.status();
    // Where workers do not reach each other's memory, one sorts the row.
    const bool alone = info.form == kernels::OpForm::kSort && support::RunsOnSealedDevices();
    EXPECT_EQ(result->worker_count, alone ? 1 : GetParam()) << op;
    EXPECT_TRUE(Calls::BytesOf(result->outputs[0].data) == WholeResult(info, inputs, output)) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, StageTest, ::testing::Values(1, 2, 3, 7));

class CutTest : public ::testing::Test {
 protected:
  StageInputs Inputs(const char* op) {
    const kernels::OpInfo& info = *kernels::FindOp(op);
    const bool is_map = info.form == kernels::OpForm::kMap;
    step_.form = info.form;
    step_.op = is_map ? nullptr : &info;
    step_.kernel =
        is_map ? kernels::OpKernel(info, DType::kUint8) : kernels::IdentityKernel(DType::kUint8);
    return {&step_, {}, {}, engine_->workers.get()};
  }

  support::TestEngine engine_{{.workers = 3}};
  kernels::program::Step step_;
};

TEST_F(CutTest, SmallArraysInTheRequestRunAnywhereInOnePiece) {
  const Operand operand = HostOperand(support::Type(DType::kUint8, {1000}), nullptr, nullptr);
  const auto pieces = CutIntoPieces(Inputs("add"), operand, 1);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].elements, (plan::Range{0, 1000}));
  EXPECT_EQ(pieces[0].worker, kNoWorker);
}

TEST_F(CutTest, LargeOnesAreCutBetweenUnits) {
  const Operand operand = HostOperand(support::Type(DType::kUint8, {7, 100'000}), nullptr, nullptr);
  const auto pieces = CutIntoPieces(Inputs("sort"), operand, 100'000);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].elements, (plan::Range{0, 300'000}));
  EXPECT_EQ(pieces[1].elements, (plan::Range{300'000, 500'000}));
  EXPECT_EQ(pieces[2].elements, (plan::Range{500'000, 700'000}));
  // Fewer units than workers: one piece.
  EXPECT_EQ(CutIntoPieces(Inputs("sort"), operand, 350'000).size(), 1U);
}

TEST_F(CutTest, StoredArraysAreCutWhereTheyLieWithoutEmptyPieces) {
  const auto cut = [&](int64_t count) {
    const auto array =
        *engine_->workers->NewArray(support::Type(DType::kUint8, {count}),
                                    {plan::DistributionKind::kBlock, engine_->workers->ids()});
    return CutIntoPieces(Inputs("add"), ArrayOperand(*array, array), 1);
  };
  EXPECT_EQ(cut(5).size(), 3U);
  EXPECT_EQ(cut(5)[2].worker, WorkerId{2});
  EXPECT_EQ(cut(2).size(), 2U);
  ASSERT_EQ(cut(0).size(), 1U);  // A stage has at least one.
  EXPECT_EQ(cut(0)[0].elements.size(), 0);
}

}  // namespace
}  // namespace shoal::runtime
