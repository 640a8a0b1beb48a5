#include "client/src/call_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/copy.h"
#include "base/status.h"
#include "base/units.h"

namespace shoal::internal {

absl::Status CheckFunction(const Call& call) {
  if (call.op.empty() && call.program.empty()) {
    return absl::InvalidArgumentError("the call names no op and has no program");
  }
  if (!call.op.empty() && !call.program.empty()) {
    return absl::InvalidArgumentError("the call names an op and has a program");
  }
  return absl::OkStatus();
}

namespace {

// Below this a payload is cheaper inside the request than as a reference.
constexpr int64_t kReferenceFrom = 4 * kKiB;

absl::Status Check(const Call& call, const PlanContext& context) {
  SHOAL_RETURN_IF_ERROR(CheckFunction(call));
  const auto count = static_cast<int64_t>(call.arguments.size());
  if (context.limits.arguments > 0 && count > context.limits.arguments) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " arguments; the server takes at most ", context.limits.arguments));
  }
  for (const Destination& destination : call.destinations) {
    const auto* target = std::get_if<WriteTo>(&destination);
    if (target != nullptr && !target->array.writable()) {
      return absl::InvalidArgumentError("a destination is a view of constant memory");
    }
  }
  return absl::OkStatus();
}

/// The array that all arguments equal in dtype and shape, if they do and all are here.
const Array* LikeAll(const std::vector<Argument>& arguments) {
  const Array* like = nullptr;
  for (const Argument& argument : arguments) {
    const auto* array = std::get_if<Array>(&argument.value);
    if (array == nullptr) return nullptr;
    if (like != nullptr && (like->dtype() != array->dtype() || like->shape() != array->shape())) {
      return nullptr;
    }
    like = array;
  }
  return like;
}

/// Chooses the way of every argument. Without leases, all that is not stored goes inline, or all of
/// it as chunks.
class Planner {
 public:
  Planner(const Call& call, const PlanContext& context) : call_(call), context_(context) {
    const auto known = context.outputs->find(call.op);
    if (known != context.outputs->end()) output_ = known->second;
  }

  CallPlan Make() {
    plan_.echo = output_ == OpOutput::kEachArgument;
    PlanInputs();
    PlanTargets();
    return std::move(plan_);
  }

 private:
  void PlanInputs() {
    int64_t inline_bytes = 0;
    for (const Argument& argument : call_.arguments) {
      CallPlan::Input input;
      if (const auto* array = std::get_if<Array>(&argument.value)) {
        input.array = *array;
        if (array->byte_count() >= kReferenceFrom) input.place = Place(*array);
        if (input.place != nullptr) input.way = CallPlan::Way::kLeased;
        if (input.way == CallPlan::Way::kInline) inline_bytes += array->byte_count();
      } else {
        input.way = CallPlan::Way::kStored;
      }
      plan_.inputs.push_back(std::move(input));
    }
    if (inline_bytes <= context_.limits.inline_bytes) return;
    if (context_.arena != nullptr) inline_bytes -= MoveIntoLeases();
    if (inline_bytes <= context_.limits.inline_bytes) return;
    plan_.stream = true;
    for (CallPlan::Input& input : plan_.inputs) {
      if (input.way == CallPlan::Way::kInline) input.way = CallPlan::Way::kStreamed;
    }
  }

  const LeasePlace* Place(const Array& array) const {
    if (context_.arena == nullptr) return nullptr;
    return context_.arena->PlaceOf(ArrayAccess::storage(array));
  }

  /// Copies what is large into leases; returns the bytes that no longer travel inline.
  int64_t MoveIntoLeases() {
    int64_t moved_bytes = 0;
    for (CallPlan::Input& input : plan_.inputs) {
      if (input.way != CallPlan::Way::kInline || input.array.byte_count() < kReferenceFrom)
        continue;
      absl::StatusOr<StorageRef> storage = context_.arena->Allocate(input.array.byte_count());
      if (!storage.ok()) return moved_bytes;  // The stream takes the rest.
      Array copy = ArrayAccess::Make(input.array.dtype(), input.array.shape(),
                                     input.array.byte_count(), *std::move(storage));
      CopyBytes(copy.mutable_data().data(), input.array.data().data(), copy.byte_count());
      moved_bytes += copy.byte_count();
      input.array = std::move(copy);
      input.place = ArrayAccess::storage(input.array)->place();
      input.way = CallPlan::Way::kLeased;
    }
    return moved_bytes;
  }

  void PlanTargets() {
    const size_t output_count = plan_.echo ? call_.arguments.size() : 1;
    for (size_t i = 0; i < std::max(output_count, call_.destinations.size()); ++i) {
      static const Destination kDefault = ReturnToCaller{};
      const Destination& wish = i < call_.destinations.size() ? call_.destinations[i] : kDefault;
      CallPlan::Target target;
      if (const auto* write = std::get_if<WriteTo>(&wish)) {
        target.array = write->array;
        target.given = true;
      }
      const bool stored = std::holds_alternative<Store>(wish);
      plan_.stores = plan_.stores || stored;
      if (!stored) PlanReturn(i, &target);
      plan_.targets.push_back(std::move(target));
    }
  }

  /// The array that an output will equal in dtype and shape, if the op and its arguments tell.
  const Array* Like(size_t output) const {
    if (plan_.echo && output < call_.arguments.size()) {
      return std::get_if<Array>(&call_.arguments[output].value);
    }
    const bool alike = output_ == OpOutput::kLikeArguments && output == 0;
    return alike ? LikeAll(call_.arguments) : nullptr;
  }

  /// An output whose bytes come back: into a lease if its size is known, inline if it surely is
  /// small, else as chunks.
  void PlanReturn(size_t output, CallPlan::Target* target) {
    const Array* like = Like(output);
    const int64_t bytes = like != nullptr ? like->byte_count() : -1;
    if (bytes >= kReferenceFrom && context_.arena != nullptr && PlanLanding(*like, target)) return;
    const int64_t known = target->given ? target->array.byte_count() : bytes;
    return_bytes_ += std::max<int64_t>(known, 0);
    const bool unknown = known < 0 && AnyUnsized() && output_ != OpOutput::kScalar;
    if (unknown || return_bytes_ > context_.limits.inline_bytes) plan_.stream = true;
  }

  /// Finds a place in a lease for an output like `like`. The server only knows where the lease
  /// ends, not where the array does, so that this must be certain of the size.
  bool PlanLanding(const Array& like, CallPlan::Target* target) {
    if (target->given && target->array.byte_count() != like.byte_count()) return false;
    const LeasePlace* given_place = target->given ? Place(target->array) : nullptr;
    if (given_place != nullptr) {
      target->landing = target->array;
      target->place = given_place;
      return true;
    }
    if (like.byte_count() <= context_.limits.inline_bytes && !AnyLeased()) return false;
    absl::StatusOr<StorageRef> storage = context_.arena->Allocate(like.byte_count());
    if (!storage.ok()) return false;
    target->landing =
        ArrayAccess::Make(like.dtype(), like.shape(), like.byte_count(), *std::move(storage));
    target->place = ArrayAccess::storage(target->landing)->place();
    return true;
  }

  bool AnyLeased() const {
    return std::any_of(plan_.inputs.begin(), plan_.inputs.end(), [](const CallPlan::Input& input) {
      return input.way == CallPlan::Way::kLeased;
    });
  }

  /// True: the outputs may be large, because an argument is, or because nobody here knows.
  bool AnyUnsized() const {
    return std::any_of(plan_.inputs.begin(), plan_.inputs.end(), [](const CallPlan::Input& input) {
      return input.way != CallPlan::Way::kInline;
    });
  }

  const Call& call_;
  const PlanContext& context_;
  OpOutput output_ = OpOutput::kUnknown;
  CallPlan plan_;
  int64_t return_bytes_ = 0;
};

}  // namespace

absl::StatusOr<CallPlan> PlanCall(const Call& call, const PlanContext& context) {
  SHOAL_RETURN_IF_ERROR(Check(call, context));
  return Planner(call, context).Make();
}

}  // namespace shoal::internal
