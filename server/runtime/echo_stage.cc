#include "server/runtime/echo_stage.h"

#include <utility>
#include <vector>

#include "base/units.h"
#include "server/plan/typing.h"

namespace shoal::runtime {
namespace {

// Below this an array goes to one worker: a second one would cost more than it carries.
constexpr int64_t kScatterBytesMin = 64 * kKiB;

class EchoStage final : public Stage {
 public:
  EchoStage(const plan::Call& call, absl::InlinedVector<Operand, 2> inputs,
            absl::InlinedVector<Operand, 2> outputs)
      : call_(call), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    for (size_t array = 0; array < inputs_.size(); ++array) {
      const Operand& output = outputs_[array];
      if (output.Locate({0, 0}) == inputs_[array].Locate({0, 0}) &&
          call_.route != plan::Route::kDevice) {
        continue;  // It is where it should be.
      }
      for (const Extent& extent : output.extents) {
        if (extent.elements.size() == 0 && output.extents.size() > 1) continue;
        pieces_.push_back({extent.elements, extent.worker,
                           plan::EstimateCost(*call_.op, extent.elements.size())});
        arrays_.push_back(array);
      }
    }
    workspace_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const Operand& input = inputs_[arrays_[index]];
    const plan::Range elements = pieces_[index].elements;
    const int64_t bytes = elements.size() * input.item_bytes();
    std::byte* output = outputs_[arrays_[index]].Locate(elements);
    std::byte* arrival = output;
    if (call_.route == plan::Route::kDevice) {
      auto buffer = worker.device->Allocate(bytes);
      if (!buffer.ok()) return std::move(done)(buffer.status());
      workspace_[index] = *std::move(buffer);
      arrival = workspace_[index].data();
    }
    const std::byte* source = input.Locate(elements);
    if (source == nullptr) {
      input.Gather(elements, arrival);
      source = arrival;
    }
    if (call_.route != plan::Route::kDevice) {
      return worker.stream->Copy({source, bytes}, {output, bytes}, std::move(done));
    }
    worker.stream->Copy({source, bytes}, {arrival, bytes}, [](const absl::Status&) {});
    device::MapWork work{.op = call_.op, .args = {}};
    work.args.dtype = input.type.dtype;
    work.args.inputs[0] = arrival;
    work.args.output = output;
    work.args.count = elements.size();
    worker.stream->Launch(work, cancelled, std::move(done));
  }

 private:
  const plan::Call& call_;
  const absl::InlinedVector<Operand, 2> inputs_;
  const absl::InlinedVector<Operand, 2> outputs_;
  std::vector<size_t> arrays_;             // By piece: which input.
  std::vector<device::Buffer> workspace_;  // By piece.
};

/// `output` is in one piece; what is in several lies in the workers' memory, where no lease is.
bool AreApart(const Operand& output, const Operand& other) {
  if (other.extents.size() != 1 || output.bytes() == 0 || other.bytes() == 0) return true;
  const std::byte* begin = output.extents[0].data;
  const std::byte* source = other.extents[0].data;
  return source + other.bytes() <= begin || begin + output.bytes() <= source;
}

}  // namespace

absl::StatusOr<Operand> EchoTarget(Engine& engine, plan::Route route, const Operand& input) {
  if (route == plan::Route::kFront) return input;
  return NewWorkerOperand(*engine.workers, input.type, kScatterBytesMin);
}

std::unique_ptr<Stage> MakeEchoStage(const plan::Call& call, absl::InlinedVector<Operand, 2> inputs,
                                     absl::InlinedVector<Operand, 2> outputs) {
  auto stage = std::make_unique<EchoStage>(call, std::move(inputs), std::move(outputs));
  if (stage->pieces().empty()) return nullptr;
  return stage;
}

absl::Status CheckOverlap(const Operand& output, absl::Span<const Operand> inputs) {
  for (const Operand& input : inputs) {
    const bool same =
        input.extents[0].data == output.extents[0].data && input.bytes() == output.bytes();
    if (!same && !AreApart(output, input)) {
      return absl::InvalidArgumentError(
          "an output's place in the lease lies partly over an argument's");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckApart(const Operand& output, absl::Span<const Operand> others) {
  for (const Operand& other : others) {
    if (!AreApart(output, other)) {
      return absl::InvalidArgumentError(
          "an output's place in the lease lies over an array other than its own");
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::runtime
