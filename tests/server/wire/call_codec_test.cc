#include "server/wire/call_codec.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/details.h"

namespace shoal::wire {
namespace {

using support::BadField;
using support::ReasonOf;
using support::SetSpec;

constexpr CallLimits kLimits{.inline_bytes_max = 64, .arguments_max = 3, .may_stream = false};

v1::ApplyRequest Axpy() {
  v1::ApplyRequest request;
  request.set_op("axpy");
  support::SetInline({1, 2}, request.add_arguments());
  support::SetInline({3, 4}, request.add_arguments());
  v1::Param* a = request.add_params();
  a->set_name("a");
  a->set_float_value(2.5);
  return request;
}

using Change = std::function<void(v1::ApplyRequest&)>;

absl::Status StatusAfter(const Change& change) {
  v1::ApplyRequest request = Axpy();
  change(request);
  return DecodeCall(request, kLimits).status();
}

TEST(DecodeCallTest, GivesOpArgumentsParamsAndDestinations) {
  v1::ApplyRequest request = Axpy();
  request.mutable_arguments(1)->mutable_ref()->set_name("y");
  request.mutable_arguments(1)->set_name("second");
  v1::LeaseRef* place = request.add_destinations()->mutable_leased();
  place->set_lease_id(5);
  place->set_lease_token(6);
  place->set_offset(-7);  // Judged by whoever knows the lease.
  request.set_route(v1::ROUTE_DEVICE);
  request.set_want_timing(true);
  const auto call = DecodeCall(request, kLimits);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->op->name, "axpy");
  EXPECT_EQ(call->params[0], kernels::Scalar(2.5));
  const auto& x = std::get<plan::InlineBytes>(call->arguments[0].value);
  EXPECT_EQ(x.type, support::Type(kernels::DType::kFloat32, {2}));
  EXPECT_EQ(static_cast<const void*>(x.bytes.data()), request.arguments(0).inline_().data().data());
  EXPECT_EQ(std::get<plan::StoredRef>(call->arguments[1].value).name, "y");
  EXPECT_EQ(call->arguments[1].name, "second");
  const auto& leased = std::get<plan::LeasePlace>(call->destinations[0]);
  EXPECT_EQ(leased.lease, LeaseId{5});
  EXPECT_EQ(leased.token, 6U);
  EXPECT_EQ(leased.offset, -7);
  EXPECT_EQ(call->route, plan::Route::kDevice);
  EXPECT_TRUE(call->want_timing);
}

TEST(DecodeCallTest, DestinationsDefaultToTheCaller) {
  v1::ApplyRequest request = Axpy();
  request.add_destinations();
  request.add_destinations()->mutable_return_inline();
  const auto call = DecodeCall(request, kLimits);
  ASSERT_TRUE(call.ok());
  for (const plan::Destination& destination : call->destinations) {
    EXPECT_TRUE(std::holds_alternative<plan::ReturnToCaller>(destination));
  }
}

TEST(DecodeCallTest, NamesTheFieldOfEveryMalformedPart) {
  const std::vector<std::pair<std::string, Change>> cases = {
      {"op", [](auto& r) { r.clear_op(); }},
      {"arguments",
       [](auto& r) {
         for (int i = 0; i < 2; ++i) r.add_arguments();
       }},
      {"arguments[1]", [](auto& r) { r.mutable_arguments(1)->clear_value(); }},
      {"arguments[0].inline.spec.dtype",
       [](auto& r) { r.mutable_arguments(0)->mutable_inline_()->mutable_spec()->clear_dtype(); }},
      {"arguments[0].inline.spec.shape",
       [](auto& r) {
         r.mutable_arguments(0)->mutable_inline_()->mutable_spec()->set_shape(0, -2);
       }},
      {"arguments[1].inline.data",
       [](auto& r) { r.mutable_arguments(1)->mutable_inline_()->mutable_data()->pop_back(); }},
      {"arguments[1].inline.data",
       [](auto& r) { r.mutable_arguments(1)->mutable_inline_()->mutable_data()->push_back('x'); }},
      {"arguments[0].ref", [](auto& r) { r.mutable_arguments(0)->mutable_ref(); }},
      {"arguments[0].leased.spec.dtype", [](auto& r) { r.mutable_arguments(0)->mutable_leased(); }},
      {"arguments[0].streamed",
       [](auto& r) { SetSpec(v1::DTYPE_INT8, {1}, r.mutable_arguments(0)->mutable_streamed()); }},
      {"params", [](auto& r) { r.clear_params(); }},
      {"params", [](auto& r) { r.mutable_params(0)->set_name("b"); }},
      {"params", [](auto& r) { *r.add_params() = r.params(0); }},
      {"params.a", [](auto& r) { r.mutable_params(0)->clear_value(); }},
      {"destinations[1].store",
       [](auto& r) {
         r.add_destinations();
         r.add_destinations()->mutable_store()->set_name(std::string(256, 'n'));
       }},
      {"route", [](auto& r) { r.set_route(static_cast<v1::Route>(9)); }},
  };
  for (const auto& [field, change] : cases) {
    const absl::Status status = StatusAfter(change);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << field << ": " << status;
    EXPECT_EQ(BadField(status), field) << status;
  }
}

TEST(DecodeCallTest, WrongArityIsAnInvalidArgument) {
  const absl::Status status = StatusAfter([](auto& r) { r.mutable_arguments()->RemoveLast(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(DecodeCallTest, UnknownOpsAreUnimplementedWithAReason) {
  absl::Status status = StatusAfter([](auto& r) { r.set_op(std::string(1000, 'q')); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_OP");
  EXPECT_LT(status.message().size(), 300U);
  status = StatusAfter([](auto& r) { r.set_op("substract"); });
  EXPECT_NE(status.message().find("did you mean 'subtract'?"), absl::string_view::npos) << status;
}

TEST(DecodeCallTest, AProgramIsParsedAndTakesNumbersOfEveryKind) {
  v1::ApplyRequest request;
  request.set_program("a * x + k; ");
  request.add_outputs("r");
  v1::Param* a = request.add_params();
  a->set_name("a");
  a->set_float_value(0.5);
  v1::Param* k = request.add_params();
  k->set_name("k");
  k->set_uint_value(UINT64_MAX);
  const auto call = DecodeCall(request, kLimits);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->op, nullptr);
  ASSERT_NE(call->program, nullptr);
  EXPECT_EQ(call->program->syntax.statements.size(), 1U);
  EXPECT_EQ(call->program->outputs, std::vector<std::string>{"r"});
  ASSERT_EQ(call->program->parameters.size(), 2U);
  EXPECT_EQ(call->program->parameters[0].kind, kernels::program::WeakKind::kFloat);
  EXPECT_EQ(call->program->parameters[1].number, kernels::Scalar(UINT64_MAX));
  request.set_program("a *");
  EXPECT_EQ(DecodeCall(request, kLimits).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DecodeCallTest, InlineBytesCountTogether) {
  const auto with = [](size_t first, size_t second) {
    return StatusAfter([=](auto& r) {
      support::SetInline(std::vector<float>(first), r.mutable_arguments(0));
      support::SetInline(std::vector<float>(second), r.mutable_arguments(1));
    });
  };
  EXPECT_TRUE(with(8, 8).ok());
  const absl::Status status = with(8, 9);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), "INLINE_LIMIT");
}

TEST(DecodeCallTest, ArgumentsMayStreamWhereTheCallDoes) {
  v1::ApplyRequest request = Axpy();
  SetSpec(v1::DTYPE_FLOAT32, {int64_t{1} << 40}, request.mutable_arguments(0)->mutable_streamed());
  CallLimits limits = kLimits;
  limits.may_stream = true;
  const auto call = DecodeCall(request, limits);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_TRUE(std::holds_alternative<plan::StreamedBytes>(call->arguments[0].value));
}

TEST(DecodeCallTest, NumbersStayWhatTheyAre) {
  const auto value_of = [](const Change& change) -> absl::StatusOr<kernels::Scalar> {
    v1::ApplyRequest request = Axpy();
    change(request);
    const auto call = DecodeCall(request, kLimits);
    if (!call.ok()) return call.status();
    return call->params[0];
  };
  for (const int64_t value : {int64_t{0}, (int64_t{1} << 53) + 1, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(*value_of([=](auto& r) { r.mutable_params(0)->set_int_value(value); }),
              kernels::Scalar(value));
  }
  EXPECT_EQ(*value_of([](auto& r) { r.mutable_params(0)->set_uint_value(UINT64_MAX); }),
            kernels::Scalar(UINT64_MAX));
  EXPECT_EQ(*value_of([](auto& r) { r.mutable_params(0)->set_float_value(0.1); }),
            kernels::Scalar(0.1));
  EXPECT_EQ(*value_of([](auto& r) { r.mutable_params(0)->set_bool_value(true); }),
            kernels::Scalar(int64_t{1}));
}

TEST(DecodeRouteTest, KnowsThreeAndADefault) {
  EXPECT_EQ(*DecodeRoute(v1::ROUTE_UNSPECIFIED), plan::Route::kWorker);
  EXPECT_EQ(*DecodeRoute(v1::ROUTE_FRONT), plan::Route::kFront);
  EXPECT_EQ(*DecodeRoute(v1::ROUTE_WORKER), plan::Route::kWorker);
  EXPECT_EQ(*DecodeRoute(v1::ROUTE_DEVICE), plan::Route::kDevice);
  for (const int number : {-1, 4, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(BadField(DecodeRoute(number).status()), "route");
  }
}

}  // namespace
}  // namespace shoal::wire
