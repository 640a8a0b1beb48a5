#include "server/wire/call_codec.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "kernels/language/parser.h"
#include "kernels/registry.h"
#include "server/plan/typing.h"
#include "server/wire/array_codec.h"
#include "server/wire/status_details.h"

namespace shoal::wire {
namespace {

constexpr int kOutputsMax = 16;  // Of a program that names them.

absl::StatusOr<const kernels::OpInfo*> DecodeOp(const v1::ApplyRequest& request) {
  if (request.op().empty()) return BadField("op", "neither an op nor a program");
  const kernels::OpInfo* op = kernels::FindOp(request.op());
  if (op != nullptr) return op;
  std::vector<std::string> names;
  for (const kernels::OpInfo& known : kernels::AllOps()) names.emplace_back(known.name);
  return WithReason(absl::UnimplementedError(absl::StrCat("no op '", Utf8Prefix(request.op(), 64),
                                                          "'", DidYouMean(request.op(), names),
                                                          " (GetServerInfo lists all)")),
                    "UNKNOWN_OP");
}

absl::StatusOr<kernels::Scalar> ParamValue(const v1::Param& param) {
  switch (param.value_case()) {
    case v1::Param::kFloatValue:
      return param.float_value();
    case v1::Param::kIntValue:
      return param.int_value();
    case v1::Param::kUintValue:
      return param.uint_value();
    case v1::Param::kBoolValue:
      return int64_t{param.bool_value()};
    case v1::Param::VALUE_NOT_SET:
      return BadField(absl::StrCat("params.", param.name()), "no value");
  }
  return BadField("params", "unknown kind of value");
}

absl::Status DecodeOpParams(const v1::ApplyRequest& request, plan::Call* call) {
  uint32_t given = 0;
  for (const v1::Param& param : request.params()) {
    size_t index = 0;
    while (index < call->op->params.size() && call->op->params[index].name != param.name()) ++index;
    if (index == call->op->params.size()) {
      return BadField("params", absl::StrCat(std::string(call->op->name), " has no parameter '",
                                             Utf8Prefix(param.name(), 64), "'"));
    }
    if ((given >> index & 1U) != 0) {
      return BadField("params", absl::StrCat(param.name(), " given twice"));
    }
    given |= 1U << index;
    SHOAL_ASSIGN_OR_RETURN(call->params[index], ParamValue(param));
  }
  for (size_t index = 0; index < call->op->params.size(); ++index) {
    if ((given >> index & 1U) != 0) continue;
    return BadField("params", absl::StrCat(std::string(call->op->name), " needs the parameter '",
                                           std::string(call->op->params[index].name), "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<kernels::program::Parameter> DecodeParameter(const v1::Param& param) {
  SHOAL_ASSIGN_OR_RETURN(kernels::Scalar number, ParamValue(param));
  auto kind = kernels::program::WeakKind::kInt;
  if (param.has_float_value()) kind = kernels::program::WeakKind::kFloat;
  if (param.has_bool_value()) kind = kernels::program::WeakKind::kBool;
  return kernels::program::Parameter{param.name(), number, kind};
}

absl::Status DecodeProgram(const v1::ApplyRequest& request, plan::Call* call) {
  auto program = std::make_shared<plan::ProgramCall>();
  SHOAL_ASSIGN_OR_RETURN(program->syntax, kernels::language::Parse(request.program()));
  for (const v1::Param& param : request.params()) {
    SHOAL_ASSIGN_OR_RETURN(program->parameters.emplace_back(), DecodeParameter(param));
  }
  if (request.outputs_size() > kOutputsMax) {
    return BadField("outputs", absl::StrCat(request.outputs_size(), " outputs; ", kOutputsMax,
                                            " is the maximum"));
  }
  program->outputs.assign(request.outputs().begin(), request.outputs().end());
  call->program = std::move(program);
  return absl::OkStatus();
}

absl::StatusOr<plan::InlineBytes> DecodeInline(const v1::InlineArray& array,
                                               absl::string_view field) {
  SHOAL_ASSIGN_OR_RETURN(plan::ArrayType type,
                         DecodeSpec(array.spec(), absl::StrCat(field, ".spec")));
  const int64_t wanted = *type.shape.ByteCount(type.dtype);
  if (wanted != static_cast<int64_t>(array.data().size())) {
    return BadField(
        absl::StrCat(field, ".data"),
        absl::StrCat(array.data().size(), " bytes, but ", std::string(kernels::Name(type.dtype)),
                     " of shape ", type.shape.ToString(), " has ", wanted));
  }
  return plan::InlineBytes{
      std::move(type),
      {reinterpret_cast<const std::byte*>(array.data().data()), array.data().size()}};
}

plan::LeasePlace DecodePlace(const v1::LeaseRef& ref) {
  return {LeaseId{ref.lease_id()}, ref.lease_token(), ref.offset()};
}

absl::StatusOr<plan::Argument> DecodeArgument(const v1::Argument& argument,
                                              const CallLimits& limits, absl::string_view field) {
  plan::Argument decoded;
  decoded.name = argument.name();
  switch (argument.value_case()) {
    case v1::Argument::kInline: {
      SHOAL_ASSIGN_OR_RETURN(decoded.value,
                             DecodeInline(argument.inline_(), absl::StrCat(field, ".inline")));
      return decoded;
    }
    case v1::Argument::kRef: {
      SHOAL_ASSIGN_OR_RETURN(decoded.value, DecodeRef(argument.ref(), absl::StrCat(field, ".ref")));
      return decoded;
    }
    case v1::Argument::kLeased: {
      SHOAL_ASSIGN_OR_RETURN(plan::ArrayType type, DecodeSpec(argument.leased().spec(),
                                                              absl::StrCat(field, ".leased.spec")));
      decoded.value = plan::LeasedBytes{std::move(type), DecodePlace(argument.leased().location())};
      return decoded;
    }
    case v1::Argument::kStreamed: {
      if (!limits.may_stream) {
        return BadField(absl::StrCat(field, ".streamed"),
                        "only ApplyStream takes streamed arguments");
      }
      SHOAL_ASSIGN_OR_RETURN(plan::ArrayType type,
                             DecodeSpec(argument.streamed(), absl::StrCat(field, ".streamed")));
      decoded.value = plan::StreamedBytes{std::move(type)};
      return decoded;
    }
    case v1::Argument::VALUE_NOT_SET:
      break;
  }
  return BadField(field, "no value");
}

absl::Status DecodeArguments(const v1::ApplyRequest& request, const CallLimits& limits,
                             plan::Call* call) {
  if (request.arguments_size() > limits.arguments_max) {
    return BadField("arguments", absl::StrCat(request.arguments_size(), " arguments; ",
                                              limits.arguments_max, " is the maximum"));
  }
  int64_t inline_bytes = 0;
  for (int i = 0; i < request.arguments_size(); ++i) {
    inline_bytes += static_cast<int64_t>(request.arguments(i).inline_().data().size());
    SHOAL_ASSIGN_OR_RETURN(
        plan::Argument argument,
        DecodeArgument(request.arguments(i), limits, absl::StrCat("arguments[", i, "]")));
    call->arguments.push_back(std::move(argument));
  }
  if (inline_bytes > limits.inline_bytes_max) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          inline_bytes, " bytes inline; the limit is ", limits.inline_bytes_max,
                          ": send them by ApplyStream, or store them with Put")),
                      "INLINE_LIMIT");
  }
  return call->op == nullptr ? absl::OkStatus()
                             : plan::CheckArity(*call->op, call->arguments.size());
}

absl::Status DecodeDestinations(const v1::ApplyRequest& request, plan::Call* call) {
  for (int i = 0; i < request.destinations_size(); ++i) {
    const v1::Destination& destination = request.destinations(i);
    switch (destination.place_case()) {
      case v1::Destination::kStore: {
        SHOAL_ASSIGN_OR_RETURN(
            auto store,
            DecodeStore(destination.store(), absl::StrCat("destinations[", i, "].store")));
        call->destinations.emplace_back(std::move(store));
        break;
      }
      case v1::Destination::kLeased:
        call->destinations.emplace_back(DecodePlace(destination.leased()));
        break;
      case v1::Destination::kReturnInline:
      case v1::Destination::PLACE_NOT_SET:
        call->destinations.emplace_back(plan::ReturnToCaller{});
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<plan::Route> DecodeRoute(int number) {
  switch (number) {
    case v1::ROUTE_FRONT:
      return plan::Route::kFront;
    case v1::ROUTE_UNSPECIFIED:
    case v1::ROUTE_WORKER:
      return plan::Route::kWorker;
    case v1::ROUTE_DEVICE:
      return plan::Route::kDevice;
    default:
      return BadField("route", absl::StrCat("unknown route ", number));
  }
}

absl::StatusOr<plan::Call> DecodeCall(const v1::ApplyRequest& request, const CallLimits& limits) {
  plan::Call call;
  if (request.has_program()) {
    SHOAL_RETURN_IF_ERROR(DecodeProgram(request, &call));
  } else {
    SHOAL_ASSIGN_OR_RETURN(call.op, DecodeOp(request));
  }
  SHOAL_RETURN_IF_ERROR(DecodeArguments(request, limits, &call));
  if (call.op != nullptr) SHOAL_RETURN_IF_ERROR(DecodeOpParams(request, &call));
  SHOAL_RETURN_IF_ERROR(DecodeDestinations(request, &call));
  SHOAL_ASSIGN_OR_RETURN(call.route, DecodeRoute(request.route()));
  call.want_timing = request.want_timing();
  return call;
}

}  // namespace shoal::wire
