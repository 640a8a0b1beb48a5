#include "server/device/cpu/fold_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/cpu/fold_rows.h"
#include "kernels/map.h"
#include "tests/support/one_op.h"

namespace shoal::device {
namespace {

using kernels::DType;
using kernels::FoldShape;

/// A float32 array as the terms of a fold, on a team of some threads.
class FoldWorkTest : public ::testing::TestWithParam<int> {
 protected:
  void SetShape(FoldShape shape) {
    shape_ = shape;
    elements_.resize(static_cast<size_t>(shape.blocks * shape.block_elements()));
    for (size_t i = 0; i < elements_.size(); ++i) {
      elements_[i] = 1.0F / static_cast<float>(1 + i * 7919 % 1009);
    }
    one_.kernel = kernels::IdentityKernel(DType::kFloat32);
    one_.inputs = {{.data = elements_.data(), .axes = {}, .single = false}};
    one_.count = static_cast<int64_t>(elements_.size());
  }

  std::vector<float> Expected() const {
    std::vector<float> out(static_cast<size_t>(shape_.result_count()));
    kernels::cpu::FoldBlocks(*sum_, one_.kernel, one_.args(), shape_, {0, shape_.blocks},
                             out.data());
    return out;
  }

  const kernels::OpInfo* const sum_ = kernels::FindOp("sum");
  threads::Team team_{GetParam() - 1};
  CpuContext context_{.team = &team_, .scratch = nullptr};
  FoldShape shape_;
  std::vector<float> elements_;
  support::OneKernel one_;
};

TEST_P(FoldWorkTest, BlocksAreSharedOrCutUpWithoutAChangeOfBits) {
  for (const FoldShape shape : {FoldShape{5, 3, 2},           // Small.
                                FoldShape{40, 300, 100},      // Shared whole.
                                FoldShape{2, 900'000, 1},     // Cut at leaves.
                                FoldShape{1, 300'000, 3},     // Cut into rows.
                                FoldShape{2, 90, 10'000}}) {  // Cut into columns.
    SetShape(shape);
    std::vector<float> out(static_cast<size_t>(shape.result_count()));
    const FoldWork work = {
        .op = sum_, .kernel = &one_.kernel, .args = one_.args(), .shape = shape, .out = out.data()};
    ASSERT_TRUE(RunWork(work, nullptr, context_).ok());
    EXPECT_TRUE(out == Expected()) << shape.blocks << " x " << shape.rows << " x " << shape.columns;
  }
}

TEST_P(FoldWorkTest, RowsInSeveralPiecesAreFinishedByColumns) {
  SetShape({1, 5000, 30});
  std::vector<kernels::RowPartial> partials;
  for (const auto& [begin, end] : {std::pair{0, 1}, {1, 1203}, {1203, 5000}}) {
    support::OneKernel part = one_;
    part.inputs[0].data = elements_.data() + begin * 30;
    part.count = (end - begin) * 30;
    std::vector<kernels::RowPartial> made;
    const FoldRowsWork work = {.op = sum_,
                               .kernel = &part.kernel,
                               .args = part.args(),
                               .first_row = begin,
                               .columns = 30,
                               .out = &made};
    ASSERT_TRUE(RunWork(work, nullptr, context_).ok());
    for (kernels::RowPartial& partial : made) partials.push_back(std::move(partial));
  }
  std::vector<float> out(30);
  for (const auto& [begin, end] : {std::pair{0, 7}, {7, 30}}) {
    const FinishRowsWork finish = {.op = sum_,
                                   .dtype = DType::kFloat32,
                                   .partials = partials,
                                   .first_column = begin,
                                   .column_count = end - begin,
                                   .out = out.data() + begin};
    ASSERT_TRUE(RunWork(finish, nullptr, context_).ok());
  }
  EXPECT_TRUE(out == Expected());
}

TEST_P(FoldWorkTest, StopsWhenItIsCancelled) {
  SetShape({4, 200'000, 2});
  const std::atomic<bool> cancelled = true;
  std::vector<float> out(8);
  const FoldWork work = {
      .op = sum_, .kernel = &one_.kernel, .args = one_.args(), .shape = shape_, .out = out.data()};
  EXPECT_TRUE(absl::IsCancelled(RunWork(work, &cancelled, context_)));
}

INSTANTIATE_TEST_SUITE_P(Threads, FoldWorkTest, ::testing::Values(1, 2, 5));

}  // namespace
}  // namespace shoal::device
