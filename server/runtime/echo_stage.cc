#include "server/runtime/echo_stage.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/plan/typing.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

// Below this an array goes to one worker: a second one would cost more than it carries.
constexpr int64_t kScatterBytesMin = 64 * kKiB;

class EchoStage final : public Stage {
 public:
  EchoStage(const plan::Call& call, absl::InlinedVector<Operand, 2> inputs,
            absl::InlinedVector<Operand, 2> outputs, const Workers& workers)
      : call_(call), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    for (size_t array = 0; array < inputs_.size(); ++array) {
      const Operand& output = outputs_[array];
      if (output.Locate({0, 0}) == inputs_[array].Locate({0, 0}) &&
          call_.route != plan::Route::kDevice) {
        continue;  // It is where it should be.
      }
      for (const Extent& extent : output.extents) {
        if (extent.elements.size() == 0 && output.extents.size() > 1) continue;
        const int64_t arrival_bytes =
            call_.route == plan::Route::kDevice ? extent.elements.size() * output.item_bytes() : 0;
        pieces_.push_back(
            {.elements = extent.elements,
             .worker = extent.worker,
             .cost = plan::EstimateCost(*call_.op, extent.elements.size()),
             .workspace_bytes =
                 arrival_bytes + WorkspaceBytes(workers, extent.worker, output, extent.elements)});
        arrays_.push_back(array);
      }
    }
    workspace_.resize(pieces_.size());
    passes_.resize(pieces_.size());
    memory_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const Operand& input = inputs_[arrays_[index]];
    const plan::Range elements = pieces_[index].elements;
    const int64_t bytes = elements.size() * input.item_bytes();
    PieceMemory& memory = memory_[index];
    const auto output = memory.Write(worker, outputs_[arrays_[index]], elements);
    if (!output.ok()) return std::move(done)(output.status());
    const std::byte* source = LocateFor(worker, input, elements);
    if (call_.route != plan::Route::kDevice) {
      if (source != nullptr && LocateFor(worker, outputs_[arrays_[index]], elements) == *output) {
        return worker.stream->Copy({source, bytes}, {*output, bytes}, std::move(done));
      }
      memory.Fill(worker, input, elements, *output);
      return memory.Run(worker, std::nullopt, cancelled, std::move(done));
    }
    auto workspace = worker.device->Allocate(bytes);
    if (!workspace.ok()) return std::move(done)(workspace.status());
    workspace_[index] = *std::move(workspace);
    std::byte* const arrival = workspace_[index].data();
    if (source != nullptr) {
      // In order on the stream: the kernel sees the copy. Its failure is the kernel's too.
      worker.stream->Copy({source, bytes}, {arrival, bytes}, [](const absl::Status&) {});
    } else {
      memory.Fill(worker, input, elements, arrival);
    }
    passes_[index] = device::PassThrough(input.type.dtype, arrival, *output);
    memory.Run(worker, passes_[index].Work(elements.size()), cancelled,
               [this, index, done = std::move(done)](absl::Status status) mutable {
                 workspace_[index].Release();
                 std::move(done)(std::move(status));
               });
  }

 private:
  const plan::Call& call_;
  const absl::InlinedVector<Operand, 2> inputs_;
  const absl::InlinedVector<Operand, 2> outputs_;
  std::vector<device::PassThrough> passes_;  // By piece; route device.
  std::vector<size_t> arrays_;               // By piece: which input.
  std::vector<device::Buffer> workspace_;    // By piece; route device.
  std::vector<PieceMemory> memory_;          // By piece.
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
                                     absl::InlinedVector<Operand, 2> outputs,
                                     const Workers& workers) {
  auto stage = std::make_unique<EchoStage>(call, std::move(inputs), std::move(outputs), workers);
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
