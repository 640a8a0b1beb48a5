#pragma once

#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "server/plan/call.h"
#include "shoal/v1/array.pb.h"

namespace shoal::support {

inline plan::ArrayType Type(kernels::DType dtype, std::initializer_list<int64_t> extents) {
  return {dtype, *plan::Shape::Create({extents.begin(), extents.size()})};
}

inline int64_t ByteCount(const plan::ArrayType& type) { return *type.shape.ByteCount(type.dtype); }

/// The same bytes for the same seed.
inline std::string RandomBytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

template <typename T>
std::string ToBytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> FromBytes(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline absl::Span<const std::byte> View(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline void SetSpec(v1::Dtype dtype, std::initializer_list<int64_t> shape, v1::ArraySpec* spec) {
  spec->set_dtype(dtype);
  spec->mutable_shape()->Assign(shape.begin(), shape.end());
}

/// A one-dimensional float32 array in the request.
inline void SetInline(const std::vector<float>& values, v1::Argument* argument) {
  v1::InlineArray* array = argument->mutable_inline_();
  SetSpec(v1::DTYPE_FLOAT32, {static_cast<int64_t>(values.size())}, array->mutable_spec());
  array->set_data(ToBytes(values));
}

}  // namespace shoal::support
