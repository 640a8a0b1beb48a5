#include "server/service/result_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/arrays.h"
#include "tests/support/engine.h"

namespace shoal::service {
namespace {

using kernels::DType;

class ResultCodecTest : public ::testing::Test {
 protected:
  runtime::CallOutput Output() {
    return {runtime::HostOperand(support::Type(DType::kUint8, {3}),
                                 reinterpret_cast<std::byte*>(bytes_.data()), nullptr),
            {},
            {},
            ""};
  }
  runtime::CallOutput Stored() {
    runtime::CallOutput output = Output();
    output.stored = ArrayId{9};
    return output;
  }
  runtime::CallOutput Leased() {
    runtime::CallOutput output = Output();
    output.leased = plan::LeasePlace{LeaseId{4}, 5, 6};
    return output;
  }

  std::string bytes_ = "abc";
  support::TestEngine engine_;
};

TEST_F(ResultCodecTest, AnOutputIsWhereItWasToGo) {
  v1::Output message;
  EncodeOutput(Output(), /*streamed=*/false, &message);
  EXPECT_EQ(message.data(), "abc");
  EXPECT_EQ(message.spec().shape(0), 3);
  message.Clear();
  EncodeOutput(Output(), /*streamed=*/true, &message);
  EXPECT_TRUE(message.streamed());
  message.Clear();
  EncodeOutput(Stored(), /*streamed=*/true, &message);
  EXPECT_EQ(message.array_id(), 9U);
  message.Clear();
  EncodeOutput(Leased(), /*streamed=*/false, &message);
  EXPECT_EQ(message.leased().lease_id(), 4U);
  EXPECT_EQ(message.leased().lease_token(), 5U);
  EXPECT_EQ(message.leased().offset(), 6);
}

TEST_F(ResultCodecTest, WhatStaysWithTheServerIsNotReturned) {
  runtime::CallResult result;
  result.outputs = {Output(), Stored(), Leased(), Output()};
  EXPECT_EQ(ReturnedBytes(result), 9);
}

TEST_F(ResultCodecTest, ArgumentsCountWhereverTheirBytesComeFrom) {
  const plan::ArrayType type = support::Type(DType::kInt64, {2});
  plan::Call call;
  call.arguments = {{"", plan::InlineBytes{type, {}}},
                    {"", plan::LeasedBytes{type, {}}},
                    {"", plan::StreamedBytes{type}},
                    {"", plan::StoredRef{ArrayId{1}, ""}}};  // It came before.
  EXPECT_EQ(ArgumentBytes(call), 48);
}

TEST_F(ResultCodecTest, PhasesKeepTheirPlaces) {
  v1::Timing timing;
  EncodeTiming({Duration(1), Duration(2), Duration(3), Duration(4), Duration(5)}, &timing);
  EXPECT_EQ(timing.queue_ns(), 1);
  EXPECT_EQ(timing.transfer_in_ns(), 2);
  EXPECT_EQ(timing.compute_ns(), 3);
  EXPECT_EQ(timing.collective_ns(), 4);
  EXPECT_EQ(timing.transfer_out_ns(), 5);
}

}  // namespace
}  // namespace shoal::service
