#include "client/src/call_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace shoal::internal {
namespace {

// Below this a payload is cheaper inside the request than as a reference.
constexpr int64_t kReferenceFrom = 4 * kKiB;

/// Ops whose one output has the dtype and shape of its arguments, when those all agree.
bool KeepsSpec(const std::string& op) {
  constexpr std::array<const char*, 5> kOps = {"echo", "axpy", "add", "multiply", "sort"};
  return std::any_of(kOps.begin(), kOps.end(), [&op](const char* name) { return op == name; });
}

/// Ops whose output is one element, whatever their arguments.
bool GivesScalar(const std::string& op) { return op == "sum" || op == "dot"; }

absl::Status Check(const Call& call, const PlanContext& context) {
  if (call.op.empty()) return absl::InvalidArgumentError("the call names no op");
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

/// The array that an output will equal in dtype and shape, if the op and its arguments tell.
const Array* OutputLike(const Call& call, size_t output) {
  if (!KeepsSpec(call.op) || call.arguments.empty()) return nullptr;
  if (call.op != "echo" && output > 0) return nullptr;
  const Array* like = nullptr;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const auto* array = std::get_if<Array>(&call.arguments[i].value);
    if (call.op == "echo") {
      if (i == output) return array;
      continue;
    }
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
  Planner(const Call& call, const PlanContext& context) : call_(call), context_(context) {}

  CallPlan Make() {
    plan_.echo = call_.op == "echo";
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
      std::memcpy(copy.mutable_data().data(), input.array.data().data(), input.array.data().size());
      moved_bytes += copy.byte_count();
      input.array = std::move(copy);
      input.place = ArrayAccess::storage(input.array)->place();
      input.way = CallPlan::Way::kLeased;
    }
    return moved_bytes;
  }

  void PlanTargets() {
    const size_t output_count = call_.op == "echo" ? call_.arguments.size() : 1;
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

  /// An output whose bytes come back: into a lease if its size is known, inline if it surely is
  /// small, else as chunks.
  void PlanReturn(size_t output, CallPlan::Target* target) {
    const Array* like = OutputLike(call_, output);
    const int64_t bytes = like != nullptr ? like->byte_count() : -1;
    if (bytes >= kReferenceFrom && context_.arena != nullptr && PlanLanding(*like, target)) return;
    const int64_t known = target->given ? target->array.byte_count() : bytes;
    return_bytes_ += std::max<int64_t>(known, 0);
    const bool unknown = known < 0 && AnyUnsized() && !GivesScalar(call_.op);
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
  CallPlan plan_;
  int64_t return_bytes_ = 0;
};

}  // namespace

absl::StatusOr<CallPlan> PlanCall(const Call& call, const PlanContext& context) {
  SHOAL_RETURN_IF_ERROR(Check(call, context));
  return Planner(call, context).Make();
}

}  // namespace shoal::internal
