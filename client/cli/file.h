#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace shoal::cli {

/// A file, or standard input, read from front to back. Not thread-safe.
class InputFile {
 public:
  /// `path` "-" is standard input.
  ///
  /// Errors:
  ///   NOT_FOUND          no such file.
  ///   PERMISSION_DENIED  it may not be read.
  ///   INVALID_ARGUMENT   it is a folder.
  ///   UNKNOWN            anything else that the system says.
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  /// Reads until `out` is full or the file ends; returns the bytes read.
  absl::StatusOr<int64_t> Read(std::span<std::byte> out);

  /// Bytes from here to the end; nothing where that cannot be known (a pipe, a terminal).
  std::optional<int64_t> RemainingBytes() const;

  /// For messages.
  const std::string& name() const { return name_; }

 private:
  InputFile(int fd, bool owned, std::string name);

  int fd_;
  bool owned_;
  std::string name_;
};

/// A file that appears under its name only once it is complete, or standard output.
///
/// An existing file is replaced in one step and keeps its permissions; when the program fails or
/// is interrupted before, it stays as it was and nothing lies beside it (on file systems without
/// O_TMPFILE an interrupt leaves PATH.PID.part). What is no regular file (a device, a named pipe)
/// is written directly. Not thread-safe.
class OutputFile {
 public:
  /// `path` "-" is standard output. Errors: as InputFile::Open.
  static absl::StatusOr<OutputFile> Create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Without Finish: as if nothing had been written.
  ~OutputFile();

  /// Writes all of it. Errors: UNKNOWN, with what the system says (disk full, broken pipe).
  absl::Status Write(std::span<const std::byte> bytes);

  /// Gives the file its name. Errors: as Write.
  absl::Status Finish();

 private:
  OutputFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  std::string temporary_;  // The name until Finish. Empty: written directly.
  bool nameless_ = false;  // Does not even have that one yet.
};

}  // namespace shoal::cli
