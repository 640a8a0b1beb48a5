#include "bench/kernels/measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/stats.h"
#include "server/device/cpu/cpu_device.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::ItemBytes;

constexpr int64_t kItemBytesMax = 8;
constexpr int kAgainMax = 9;
constexpr double kAgainSecondsMax = 0.2;
// Peers may use other algorithms than NumPy; numexpr sums floats one after the other, which is as
// wrong as there are elements.
constexpr double kPeerUlps = 4;

// What no result is by chance: it shows where nothing was written.
constexpr int kUnwritten = 0xA5;

class ShoalContender final : public Contender {
 public:
  ShoalContender(PreparedProgram* program, std::vector<const void*> inputs, void* output,
                 const device::CpuContext& context)
      : program_(program), inputs_(std::move(inputs)), output_(output), context_(context) {}

  const std::string& Name() const override { return name_; }

  absl::StatusOr<double> Burst(int64_t calls) override {
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < calls; ++i) {
      SHOAL_RETURN_IF_ERROR(program_->Run(inputs_, output_, context_));
    }
    return Seconds(Clock::now() - begin) / static_cast<double>(calls);
  }

 private:
  const std::string name_ = "shoal";
  PreparedProgram* const program_;
  const std::vector<const void*> inputs_;
  void* const output_;
  const device::CpuContext context_;
};

double UlpsMaxOf(const CasePoint& point, const std::string& peer) {
  const double numpy = point.which->numpy_ulps_max;
  if (peer == "numpy" || peer == "numpy_out") return numpy;
  const bool sums = point.which->form == CaseForm::kReduce;
  if (peer == "numexpr" && sums) return numpy + static_cast<double>(point.elements);
  return numpy + kPeerUlps;
}

// The figures that follow from times alone, of all subjects.
std::vector<SubjectFigures> FiguresOf(const std::vector<RoundTimes>& times,
                                      const std::vector<Limit>& limits, int64_t bytes) {
  std::vector<const RoundTimes*> limit_times;
  for (const Limit limit : limits) {
    for (const RoundTimes& subject : times) {
      if (subject.name == NameOf(limit)) limit_times.push_back(&subject);
    }
  }
  std::vector<SubjectFigures> figures;
  for (const RoundTimes& own : times) {
    SubjectFigures& subject = figures.emplace_back();
    subject.name = own.name;
    subject.call_s = Median(own.seconds);
    subject.spread = RelativeSpread(own.seconds);
    subject.gb_per_s = static_cast<double>(bytes) / subject.call_s / 1e9;
    const bool is_limit =
        std::find(limit_times.begin(), limit_times.end(), &own) != limit_times.end();
    if (!is_limit) subject.of_limit = ShareOfLimit(own, limit_times);
    for (const RoundTimes& other : times) {
      if (&other != &own) subject.ratio[other.name] = SpeedRatio(own, other);
    }
  }
  return figures;
}

}  // namespace

struct KernelMeasuring::Row {
  CasePoint point;
  device::CpuContext context;
  std::vector<Elements> inputs;
  std::unique_ptr<PreparedProgram> program;
  CaseFigures figures;

  std::vector<const void*> InputData() const {
    std::vector<const void*> data;
    for (const Elements& input : inputs) data.push_back(input.data);
    return data;
  }
  // As many elements as the output has.
  Elements Output(const std::byte* data) const {
    return {program->Output().dtype, data, program->Output().shape.element_count()};
  }
};

std::vector<Limit> LimitsOf(const KernelCase& which) {
  switch (which.form) {
    case CaseForm::kMap:
      if (which.name == "copy") return {Limit::kStream, Limit::kStreamNt, Limit::kCopy};
      return {Limit::kStream, Limit::kStreamNt};
    case CaseForm::kReduce:
      return {Limit::kRead};
    case CaseForm::kSort:
      return {Limit::kCopy};
  }
  SHOAL_UNREACHABLE("form out of range");
}

absl::StatusOr<std::unique_ptr<KernelMeasuring>> KernelMeasuring::Create(int64_t elements_max) {
  const int64_t bytes = elements_max * kItemBytesMax;
  // Two inputs, an output, and the scratch of a sort; the rest is rounding.
  const int64_t capacity = 4 * bytes + 64 * kMiB;
  SHOAL_ASSIGN_OR_RETURN(auto arena, memory::Arena::Create({.capacity_bytes = capacity}));
  device::CpuDeviceOptions options;
  options.owner = "shoal-bench";
  options.memory_bytes = capacity;
  auto device = std::make_unique<device::CpuDevice>(arena.get(), options);
  return std::unique_ptr<KernelMeasuring>(new KernelMeasuring(std::move(arena), std::move(device)));
}

KernelMeasuring::KernelMeasuring(std::unique_ptr<memory::Arena> arena,
                                 std::unique_ptr<device::Device> device)
    : arena_(std::move(arena)), device_(std::move(device)) {}

device::CpuContext KernelMeasuring::ContextOf(int64_t threads) {
  std::unique_ptr<threads::Team>& team = teams_[threads];
  if (team == nullptr) team = std::make_unique<threads::Team>(static_cast<int>(threads) - 1);
  return {.team = team.get(), .scratch = device_.get()};
}

// Anew for each row, as large as it needs: where arrays lie to each other in the caches is then
// what a worker's allocations make of it, not the same place in three buffers of the largest size.
absl::Status KernelMeasuring::PlaceArrays(const CasePoint& point) {
  const std::array<device::Buffer*, 3> buffers = {&inputs_[0], &inputs_[1], &output_};
  for (device::Buffer* buffer : buffers) buffer->Release();
  for (device::Buffer* buffer : buffers) {
    // What the output's elements will be is not known yet.
    const int64_t item_bytes = buffer == &output_ ? kItemBytesMax : ItemBytes(point.dtype);
    SHOAL_ASSIGN_OR_RETURN(*buffer, device_->Allocate(point.elements * item_bytes));
  }
  return absl::OkStatus();
}

void KernelMeasuring::FillInputs(const CasePoint& point) {
  const auto memory = [&](size_t i) {
    return ElementMemory{point.dtype, inputs_[i].data(), point.elements};
  };
  FillUniform(point.which->x, 1, memory(0));
  if (point.which->inputs > 1) FillUniform(point.which->y, 2, memory(1));
}

std::vector<Elements> KernelMeasuring::Inputs(const CasePoint& point) const {
  std::vector<Elements> inputs(static_cast<size_t>(point.which->inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = {point.dtype, inputs_[i].data(), point.elements};
  }
  return inputs;
}

Traffic KernelMeasuring::TrafficOf(const CasePoint& point, const kernels::ArrayType& output) const {
  Traffic traffic;
  traffic.inputs = point.which->inputs;
  traffic.input = {inputs_[0].data(), inputs_[1].data()};
  traffic.input_item_bytes = ItemBytes(point.dtype);
  traffic.count = point.elements;
  if (point.which->form == CaseForm::kReduce) return traffic;
  traffic.output = output_.data();
  traffic.output_item_bytes = ItemBytes(output.dtype);
  return traffic;
}

absl::StatusOr<CaseFigures> KernelMeasuring::Measure(const CasePoint& point,
                                                     const RoundOptions& options, ArrayPeer* peer) {
  SHOAL_RETURN_IF_ERROR(PlaceArrays(point));
  Row row{.point = point,
          .context = ContextOf(point.threads),
          .inputs = Inputs(point),
          .program = nullptr,
          .figures = {}};
  FillInputs(point);
  const absl::Status first = TimeFirstCalls(&row);
  const bool missing = absl::IsInvalidArgument(first) || absl::IsUnimplemented(first);
  if (point.which->optional && missing) {
    row.figures.not_built = std::string(first.message());
    return row.figures;
  }
  SHOAL_RETURN_IF_ERROR(first);
  if (peer != nullptr) {
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      SHOAL_RETURN_IF_ERROR(peer->Load(i == 0 ? "x" : "y", row.inputs[i]));
    }
  }
  SHOAL_RETURN_IF_ERROR(MeasureSubjects(options, peer, &row));
  SHOAL_RETURN_IF_ERROR(JudgeAll(peer, &row));
  if (peer != nullptr) SHOAL_RETURN_IF_ERROR(peer->Drop());
  return row.figures;
}

absl::StatusOr<std::unique_ptr<PreparedProgram>> KernelMeasuring::MakeAndRun(const Row& row) {
  SHOAL_ASSIGN_OR_RETURN(const kernels::Shape shape, kernels::Shape::Create({row.point.elements}));
  const std::vector<kernels::ArrayType> types(row.inputs.size(), {row.point.dtype, shape});
  SHOAL_ASSIGN_OR_RETURN(auto program, PreparedProgram::Make(*row.point.which, types));
  SHOAL_RETURN_IF_ERROR(program->Run(row.InputData(), output_.data(), row.context));
  return program;
}

absl::Status KernelMeasuring::TimeFirstCalls(Row* row) {
  // The pages of the output are there: allocating is not what is measured.
  std::memset(output_.data(), kUnwritten, static_cast<size_t>(row->point.elements * kItemBytesMax));
  std::vector<double> seconds;
  double spent = 0;
  for (int i = 0; i <= kAgainMax && (i < 2 || spent < kAgainSecondsMax); ++i) {
    const Clock::time_point begin = Clock::now();
    SHOAL_ASSIGN_OR_RETURN(row->program, MakeAndRun(*row));
    seconds.push_back(Seconds(Clock::now() - begin));
    spent += seconds.back();
  }
  row->figures.first_s = seconds.front();
  seconds.erase(seconds.begin());
  row->figures.again_s = Median(seconds);
  return absl::OkStatus();
}

absl::Status KernelMeasuring::MeasureSubjects(const RoundOptions& options, ArrayPeer* peer,
                                              Row* row) {
  std::vector<std::unique_ptr<Contender>> contenders;
  contenders.push_back(std::make_unique<ShoalContender>(row->program.get(), row->InputData(),
                                                        output_.data(), row->context));
  const Traffic traffic = TrafficOf(row->point, row->program->Output());
  const std::vector<Limit> limits = LimitsOf(*row->point.which);
  for (const Limit limit : limits) {
    contenders.push_back(NewLimitContender(limit, traffic, row->context.team));
  }
  if (peer != nullptr) {
    SHOAL_ASSIGN_OR_RETURN(const auto subjects, peer->Prepare(row->point.which->name));
    for (const std::string& subject : subjects) {
      contenders.push_back(NewPeerContender(peer, subject));
    }
  }
  std::vector<Contender*> in_turn;
  in_turn.reserve(contenders.size());
  for (const auto& contender : contenders) in_turn.push_back(contender.get());
  SHOAL_ASSIGN_OR_RETURN(const auto times, MeasureRounds(in_turn, options));
  row->figures.subjects = FiguresOf(times, limits, traffic.Bytes());
  return absl::OkStatus();
}

// Afterwards, since the limits wrote to the same memory.
absl::Status KernelMeasuring::JudgeAll(ArrayPeer* peer, Row* row) {
  const Elements ours = row->Output(output_.data());
  std::memset(output_.data(), kUnwritten, static_cast<size_t>(ours.count * ItemBytes(ours.dtype)));
  SHOAL_RETURN_IF_ERROR(row->program->Run(row->InputData(), output_.data(), row->context));
  const Verdict verdict = JudgeResult(*row->point.which, row->inputs, ours);
  const std::vector<std::string> peers = AllArrayPeers();
  for (SubjectFigures& subject : row->figures.subjects) {
    if (subject.name == "shoal") {
      subject.ulps = verdict.ulps;
      subject.wrong = verdict.wrong;
    }
    if (std::find(peers.begin(), peers.end(), subject.name) == peers.end()) continue;
    SHOAL_ASSIGN_OR_RETURN(const Elements theirs, peer->Result(subject.name));
    const Verdict from_ours = CompareResults(ours, theirs, UlpsMaxOf(row->point, subject.name));
    subject.ulps_from_shoal = from_ours.ulps;
    subject.wrong = from_ours.wrong;
  }
  return absl::OkStatus();
}

}  // namespace shoal::bench
