#include "server/service/result_codec.h"

#include <string>
#include <variant>

#include "server/wire/array_codec.h"

namespace shoal::service {

void EncodeOutput(const runtime::CallOutput& output, bool streamed, v1::Output* message) {
  if (!output.name.empty()) message->set_name(output.name);
  wire::EncodeSpec(output.data.type, message->mutable_spec());
  if (output.stored) {
    message->set_array_id(output.stored.value);
    return;
  }
  if (output.leased.has_value()) {
    message->mutable_leased()->set_lease_id(output.leased->lease.value);
    message->mutable_leased()->set_lease_token(output.leased->token);
    message->mutable_leased()->set_offset(output.leased->offset);
    return;
  }
  if (streamed) {
    message->set_streamed(true);
    return;
  }
  std::string* data = message->mutable_data();
  data->resize(static_cast<size_t>(output.data.bytes()));
  output.data.Gather({0, output.data.element_count()}, reinterpret_cast<std::byte*>(data->data()));
}

void EncodeTiming(const telemetry::PhaseTimes& phases, v1::Timing* message) {
  message->set_queue_ns(phases.queue.count());
  message->set_transfer_in_ns(phases.transfer_in.count());
  message->set_compute_ns(phases.compute.count());
  message->set_collective_ns(phases.collective.count());
  message->set_transfer_out_ns(phases.transfer_out.count());
}

void EncodeResult(const runtime::Engine& engine, const runtime::CallResult& result,
                  ResultFormat format, v1::ApplyResponse* response) {
  for (const runtime::CallOutput& output : result.outputs) {
    EncodeOutput(output, format.streamed, response->add_outputs());
  }
  if (result.worker_count > 0) response->set_backend(engine.backend);
  response->set_worker_count(result.worker_count);
  if (format.want_timing) EncodeTiming(result.phases, response->mutable_timing());
}

void EncodeArrayInfo(const runtime::StoredArray& array, v1::ArrayInfo* info) {
  info->set_id(array.id.value);
  info->set_name(array.name);
  wire::EncodeSpec(array.type, info->mutable_spec());
  wire::EncodeDistribution(array.distribution, info->mutable_distribution());
  for (const runtime::Shard& shard : array.shards) {
    v1::Shard* message = info->add_shards();
    message->set_worker(shard.worker.value);
    message->set_begin(shard.elements.begin);
    message->set_end(shard.elements.end);
  }
  info->set_bytes(array.bytes);
  const bool complete = array.complete.load(std::memory_order_acquire);
  info->set_complete(complete);
  if (!complete) info->set_acknowledged_bytes(array.landed_bytes.load(std::memory_order_relaxed));
}

int64_t ReturnedBytes(const runtime::CallResult& result) {
  int64_t bytes = 0;
  for (const runtime::CallOutput& output : result.outputs) {
    if (!output.stored) bytes += output.data.bytes();
  }
  return bytes;
}

int64_t ArgumentBytes(const plan::Call& call) {
  int64_t bytes = 0;
  for (const plan::Argument& argument : call.arguments) {
    const plan::ArrayType* type = nullptr;
    if (const auto* inlined = std::get_if<plan::InlineBytes>(&argument.value)) {
      type = &inlined->type;
    } else if (const auto* leased = std::get_if<plan::LeasedBytes>(&argument.value)) {
      type = &leased->type;
    } else if (const auto* streamed = std::get_if<plan::StreamedBytes>(&argument.value)) {
      type = &streamed->type;
    }
    if (type != nullptr) bytes += *type->shape.ByteCount(type->dtype);
  }
  return bytes;
}

}  // namespace shoal::service
