// Against NumPy itself: files it wrote are read, files we wrote are byte for byte its own.
#include "client/cli/npy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

namespace shoal::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// For each case NAME: NAME.npy as a user might save it, and NAME.expected, what np.save makes of
// the same numbers in little-endian C order.
constexpr char kMakeFiles[] = R"(
import io, sys, numpy as np
folder = sys.argv[1]
rng = np.random.default_rng(20260131)
def values(dtype, shape):
    raw = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8)
    if dtype == 'b1': raw &= 1
    return raw.view(dtype).reshape(shape)
def emit(name, array, version=None):
    with open(f'{folder}/{name}.npy', 'wb') as f:
        np.lib.format.write_array(f, array, version=version)
    if array.dtype.kind == 'V': plain = np.ascontiguousarray(array)
    else: plain = array.astype(array.dtype.newbyteorder('<'), order='C')
    np.save(f'{folder}/{name}.expected', plain.reshape(array.shape))
    import os; os.rename(f'{folder}/{name}.expected.npy', f'{folder}/{name}.expected')
for kind in 'b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16'.split():
    for order in '<>':
        shapes = dict(scalar=(), empty=(0, 3), one=(7,), two=(5, 6), three=(3, 4, 5))
        for label, shape in shapes.items():
            dtype = order + kind
            if shape: array = values(kind, shape).astype(kind).view(dtype)
            else: array = np.array(values(kind, (1,))[0], kind).astype(dtype)
            tag = f"{kind}_{'le' if order == '<' else 'be'}_{label}"
            emit(tag + '_c', array)
            emit(tag + '_f', np.asfortranarray(array).reshape(array.shape, order='A'))
emit('bfloat16', values('u2', (4, 3)).view('V2'))
for major in (1, 2, 3):
    emit(f'version{major}', values('f8', (11, 3)), (major, 0))
for size in (1, 9, 10, 99999, 100000, 1234567):
    emit(f'digits{size}', np.zeros((size, 1), 'u1'))
emit('many_axes', np.zeros((1,) * 32, 'i4'))
for length in range(1, 14):
    emit(f'axes{length}', np.zeros((10,) * length if length < 6 else (1,) * length, 'i1'))
)";

ArrayAllocator Plain() {
  return [](Dtype dtype, Shape shape) { return Array::Create(dtype, std::move(shape)); };
}

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A pipe that a thread fills with `bytes`; what nobody reads is dropped at the end.
class FilledPipe {
 public:
  explicit FilledPipe(std::string bytes) : bytes_(std::move(bytes)) {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    writer_ = std::jthread([this] {
      size_t done = 0;
      while (done < bytes_.size()) {
        const ssize_t count = write(ends_[1], bytes_.data() + done, bytes_.size() - done);
        if (count < 0) break;
        done += static_cast<size_t>(count);
      }
      close(ends_[1]);
    });
  }
  ~FilledPipe() { close(ends_[0]); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

 private:
  const std::string bytes_;
  int ends_[2] = {-1, -1};
  std::jthread writer_;  // Last, so that it is joined first, after the reading end was closed.
};

class NpyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Folder() = ::testing::TempDir() + "/npy_test_" + std::to_string(getpid());
    fs::create_directories(Folder());
    std::ofstream(Folder() + "/make.py") << kMakeFiles;
    const std::string command =
        SHOAL_NUMPY_PYTHON " " + Folder() + "/make.py " + Folder() + " 2> " + Folder() + "/log";
    Made() = std::system(command.c_str()) == 0;
  }
  static void TearDownTestSuite() { fs::remove_all(Folder()); }

  void SetUp() override {
    if (Made()) return;
    const std::string log = Contents(Folder() + "/log");
    // Only a missing NumPy excuses.
    if (log.find("No module named 'numpy'") != std::string::npos) GTEST_SKIP() << log;
    FAIL() << log;
  }

  static std::string& Folder() {
    static std::string folder;
    return folder;
  }
  static bool& Made() {
    static bool made = false;
    return made;
  }
  static std::string Path(const std::string& name) { return Folder() + "/" + name; }
  static std::string Save(const std::string& name, const std::string& bytes) {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
};

TEST_F(NpyTest, WhatNumPyWroteReadsAndIsWrittenBackAsNumPyWould) {
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(Folder())) {
    if (entry.path().extension() != ".npy") continue;
    const absl::StatusOr<Array> array = ReadNpyFile(entry.path(), Plain());
    ASSERT_TRUE(array.ok()) << array.status();
    ASSERT_TRUE(WriteNpyFile(Path("back"), *array).ok());
    std::string expected = Contents(fs::path(entry.path()).replace_extension(".expected"));
    // NumPy calls two plain bytes |V2; we write the byte order as ml_dtypes does.
    if (const size_t at = expected.find("'|V2'"); at != std::string::npos) expected[at + 1] = '<';
    EXPECT_EQ(Contents(Path("back")), expected) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 14 * 2 * 5 * 2);
}

TEST_F(NpyTest, NumPyReadsWhatWeWrite) {
  absl::StatusOr<Array> array = Array::Create(Dtype::kInt32, {2, 3});
  ASSERT_TRUE(array.ok());
  const absl::Span<int32_t> values = *array->MutableAs<int32_t>();
  for (int32_t i = 0; i < 6; ++i) values[static_cast<size_t>(i)] = i;
  ASSERT_TRUE(WriteNpyFile(Path("ours"), *array).ok());
  const std::string command =
      SHOAL_NUMPY_PYTHON
      " -c \"import numpy as np, sys; a = np.load(sys.argv[1]); "
      "assert a.dtype == np.int32 and (a == np.arange(6).reshape(2, 3)).all()\" " +
      Path("ours");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(NpyTest, AFileThatIsCutShortNeverGivesAnArray) {
  const std::string whole = Contents(Path("f8_le_two_c.npy"));
  for (size_t length = 0; length < whole.size(); ++length) {
    const absl::StatusOr<Array> array = ReadNpyFile(Save("cut", whole.substr(0, length)), Plain());
    ASSERT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument) << length;
    EXPECT_THAT(std::string(array.status().message()), HasSubstr("cut: ")) << "names the file";
  }
  EXPECT_THAT(std::string(ReadNpyFile(Path("cut"), Plain()).status().message()),
              HasSubstr("cut short: 240 bytes of data announced, 239 there"));
}

TEST_F(NpyTest, WhatFollowsTheArrayIsLeftAlone) {
  const std::string first = Contents(Path("f8_le_two_c.npy"));
  const std::string second = Contents(Path("i4_be_three_f.npy"));
  absl::StatusOr<InputFile> file = InputFile::Open(Save("both", first + second));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReadNpy(*file, Plain())->dtype(), Dtype::kFloat64);
  EXPECT_EQ(ReadNpy(*file, Plain())->dtype(), Dtype::kInt32);
  EXPECT_EQ(file->RemainingBytes(), 0);
}

TEST_F(NpyTest, NoMemoryIsTakenForWhatAHeaderMerelyClaims) {
  const std::string dict =
      "{'descr': '<f8', 'fortran_order': True, 'shape': (4611686018427387, 200)}";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dict.size());
  bytes += '\0';
  bytes += dict + std::string(1000, 'x');
  const ArrayAllocator forbidden = [](Dtype, const Shape&) -> absl::StatusOr<Array> {
    ADD_FAILURE() << "allocated for a claim";
    return absl::InternalError("");
  };
  const absl::Status from_file = ReadNpyFile(Save("liar", bytes), forbidden).status();
  EXPECT_EQ(from_file.code(), absl::StatusCode::kInvalidArgument) << from_file;

  // A pipe cannot tell its length: what comes decides.
  const FilledPipe pipe(bytes);
  const absl::Status from_pipe = ReadNpyFile(pipe.path(), forbidden).status();
  EXPECT_EQ(from_pipe.code(), absl::StatusCode::kInvalidArgument) << from_pipe;
}

TEST_F(NpyTest, APipeGivesTheSameAsTheFile) {
  for (const std::string name : {"digits1234567", "c16_be_three_f", "b1_le_empty_c"}) {
    const FilledPipe pipe(Contents(Path(name + ".npy")));
    const absl::StatusOr<Array> piped = ReadNpyFile(pipe.path(), Plain());
    ASSERT_TRUE(piped.ok()) << piped.status();
    EXPECT_TRUE(SameBytes(*piped, *ReadNpyFile(Path(name + ".npy"), Plain()))) << name;
  }
}

TEST_F(NpyTest, BoolsAreZeroOrOneWhateverTheFileHolds) {
  std::string bytes = Contents(Path("b1_le_one_c.npy"));
  bytes.replace(bytes.size() - 3, 3, std::string("\x00\x02\xff", 3));
  const absl::StatusOr<Array> array = ReadNpyFile(Save("bools", bytes), Plain());
  ASSERT_TRUE(array.ok());
  const absl::Span<const std::byte> data = array->data();
  EXPECT_EQ(data[4], std::byte{0});
  EXPECT_EQ(data[5], std::byte{1});
  EXPECT_EQ(data[6], std::byte{1});
}

}  // namespace
}  // namespace shoal::cli
