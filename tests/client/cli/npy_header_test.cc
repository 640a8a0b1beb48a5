#include "client/cli/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal::cli {
namespace {

using ::testing::HasSubstr;

std::string Dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string Error(const std::string& text) {
  const absl::StatusOr<NpyHeader> header = ParseNpyHeader(text);
  if (header.ok()) return "no error";
  EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(header.status().message());
}

TEST(NpyHeaderTest, EveryDtypeInEveryByteOrder) {
  struct Case {
    std::string descr;
    Dtype dtype;
    bool big_endian;
  };
  for (const Case& each :
       {Case{"|b1", Dtype::kBool, false}, Case{"|i1", Dtype::kInt8, false},
        Case{"<i2", Dtype::kInt16, false}, Case{">i2", Dtype::kInt16, true},
        Case{"<i4", Dtype::kInt32, false}, Case{"<i8", Dtype::kInt64, false},
        Case{"|u1", Dtype::kUint8, false}, Case{">u1", Dtype::kUint8, false},
        Case{"<u2", Dtype::kUint16, false}, Case{">u4", Dtype::kUint32, true},
        Case{"<u8", Dtype::kUint64, false}, Case{"<f2", Dtype::kFloat16, false},
        Case{"<V2", Dtype::kBfloat16, false}, Case{"|V2", Dtype::kBfloat16, false},
        Case{"=f4", Dtype::kFloat32, false}, Case{">f8", Dtype::kFloat64, true},
        Case{"<c8", Dtype::kComplex64, false}, Case{">c16", Dtype::kComplex128, true}}) {
    const absl::StatusOr<NpyHeader> header =
        ParseNpyHeader(Dict("'" + each.descr + "'", "False", "(2,)"));
    ASSERT_TRUE(header.ok()) << each.descr << header.status();
    EXPECT_EQ(header->dtype, each.dtype) << each.descr;
    EXPECT_EQ(header->big_endian, each.big_endian) << each.descr;
    EXPECT_EQ(header->byte_count, 2 * ItemBytes(each.dtype));
  }
}

TEST(NpyHeaderTest, EveryFormThatWritersUse) {
  const NpyHeader plain = {.dtype = Dtype::kFloat64, .shape = {3, 4}, .byte_count = 96};
  for (const std::string text :
       {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }       \n",
        "{'shape': (3, 4), 'fortran_order': False, 'descr': '<f8'}",
        "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(3,4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L), }\n",
        "  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, ), }"}) {
    const absl::StatusOr<NpyHeader> header = ParseNpyHeader(text);
    ASSERT_TRUE(header.ok()) << text << header.status();
    EXPECT_EQ(*header, plain) << text;
  }
  EXPECT_EQ(ParseNpyHeader(Dict("'<f8'", "False", "()"))->shape, Shape{});
  EXPECT_EQ(ParseNpyHeader(Dict("'<f8'", "False", "()"))->byte_count, 8);
  EXPECT_EQ(ParseNpyHeader(Dict("'<f8'", "True", "(0, 5)"))->shape, (Shape{0, 5}));
  EXPECT_TRUE(ParseNpyHeader(Dict("'<f8'", "True", "(2, 5)"))->fortran_order);
}

TEST(NpyHeaderTest, MalformedHeadersSayWhatIsWrong) {
  struct Case {
    std::string text, message;
  };
  for (const Case& each : {
           Case{"", "no dictionary"},
           Case{"[]", "no dictionary"},
           Case{"{}", "no 'descr'"},
           Case{"{'descr': '<f8'}", "no 'fortran_order'"},
           Case{"{'descr': '<f8', 'fortran_order': False}", "no 'shape'"},
           Case{Dict("'<f8'", "False", "(3,)") + "x", "text after the dictionary: 'x'"},
           Case{"{'descr': '<f8' 'shape': (3,)}", "no ',' or '}'"},
           Case{"{'descr' '<f8'}", "no ':'"},
           Case{"{'descr: 1", "a string without end"},
           Case{"{'desc\\x72': '<f8'}", "an escape in a string"},
           Case{"{descr: '<f8'}", "no string at 'descr"},
           Case{"{'descr': '<f8', 'descr': '<f8'}", "'descr' is unknown or stands twice"},
           Case{"{'extra': 1}", "'extra' is unknown"},
           Case{Dict("'<f8'", "0", "(3,)"), "neither True nor False"},
           Case{Dict("'<f8'", "False", "3"), "no tuple"},
           Case{Dict("'<f8'", "False", "(3)"), "a number, not a tuple"},
           Case{Dict("'<f8'", "False", "(3 4)"), "no tuple of numbers"},
           Case{Dict("'<f8'", "False", "(3,,)"), "no extent"},
           Case{Dict("'<f8'", "False", "(-3,)"), "no extent"},
           Case{Dict("'<f8'", "False", "(3.0,)"), "no tuple of numbers"},
           Case{Dict("'<f8'", "False", "(3,"), "no extent"},
           Case{Dict("'<f8'", "False", "(9223372036854775808,)"), "no extent below 2^63"},
           Case{Dict("5", "False", "(3,)"), "no string at '5"},
       }) {
    EXPECT_THAT(Error(each.text), HasSubstr(each.message)) << each.text;
    EXPECT_THAT(Error(each.text), HasSubstr("malformed .npy header")) << each.text;
  }
}

TEST(NpyHeaderTest, ImpossibleShapesAreRefused) {
  EXPECT_NE(Error(Dict("'<f8'", "False", "(9223372036854775807, 2)")), "no error");
  EXPECT_NE(Error(Dict("'<f8'", "False", "(9223372036854775807,)")), "no error");  // bytes
  std::string shape = "(";
  for (int i = 0; i < 33; ++i) shape += "1, ";
  EXPECT_THAT(Error(Dict("'<f8'", "False", shape + ")")), HasSubstr("more than 32 axes"));
}

TEST(NpyHeaderTest, TypesThatShoalHasNotAreNamed) {
  EXPECT_THAT(Error(Dict("'<U3'", "False", "(3,)")), HasSubstr("no arrays of text"));
  EXPECT_THAT(Error(Dict("'|S3'", "False", "(3,)")), HasSubstr("no arrays of text"));
  EXPECT_THAT(Error(Dict("'|O'", "False", "(3,)")), HasSubstr("no arrays of Python objects"));
  EXPECT_THAT(Error(Dict("'O'", "False", "(3,)")), HasSubstr("no arrays of Python objects"));
  EXPECT_THAT(Error(Dict("'<M8[ns]'", "False", "(3,)")), HasSubstr("dates and times"));
  EXPECT_THAT(Error(Dict("'<f16'", "False", "(3,)")), HasSubstr("longdouble"));
  EXPECT_THAT(Error(Dict("'|V8'", "False", "(3,)")), HasSubstr("records"));
  EXPECT_THAT(Error(Dict("[('a', '<f8')]", "False", "(3,)")), HasSubstr("records"));
  EXPECT_THAT(Error(Dict("'f8'", "False", "(3,)")), HasSubstr("this type"));
  EXPECT_THAT(Error(Dict("''", "False", "(3,)")), HasSubstr("this type"));
  EXPECT_THAT(Error(Dict("'|f8'", "False", "(3,)")), HasSubstr("this type"));
  EXPECT_THAT(Error(Dict("'<f3'", "False", "(3,)")), HasSubstr("this type"));
}

TEST(NpyPreambleTest, VersionsAndLengths) {
  const std::string magic = "\x93NUMPY";
  const auto parse = [&](std::string rest) { return ParseNpyPreamble(magic + rest); };
  const std::string v1("\x01\x00\x76\x00", 4), v2("\x02\x00\x76\x01\x00\x00", 6);
  const std::string v3("\x03\x00\x76\x00\x00\x00", 6);
  EXPECT_EQ(parse(v1)->header_bytes, 0x76);
  EXPECT_EQ(parse(v1)->preamble_bytes, 10);
  EXPECT_EQ(parse(v2)->header_bytes, 0x176);
  EXPECT_EQ(parse(v2)->preamble_bytes, 12);
  EXPECT_EQ(parse(v3)->preamble_bytes, 12);

  const auto error = [&](std::string rest) { return std::string(parse(rest).status().message()); };
  EXPECT_THAT(error(std::string("\x04\x00\x76\x00\x00\x00", 6)), HasSubstr("version 4.0"));
  EXPECT_THAT(error(std::string("\x00\x00\x76\x00\x00\x00", 6)), HasSubstr("version 0.0"));
  EXPECT_THAT(error(std::string("\x01\x05\x76\x00\x00\x00", 6)), HasSubstr("version 1.5"));
  EXPECT_THAT(error(std::string("\x02\x00\xff\xff\xff\xff", 6)),
              HasSubstr("4294967295 bytes long"));
  EXPECT_THAT(error(std::string("\x01\x00\x76", 3)), HasSubstr("ends within"));
  EXPECT_THAT(error(std::string("\x02\x00\x76\x01\x00", 5)), HasSubstr("ends within"));
  EXPECT_THAT(error(""), HasSubstr("ends within"));
  for (const char* text : {"", "\x93NUMP", "PK\x03\x04 a .npz file", "\x93NUMPZ\x01\x01\x01\x01"}) {
    EXPECT_EQ(ParseNpyPreamble(text).status().message(), "not a .npy file");
  }
}

TEST(FormatNpyHeaderTest, WhatIsWrittenReadsBackAndAlignsTheData) {
  for (int number = 1; number <= 15; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{7}, Shape{2, 3}, Shape(32, 1), Shape{int64_t{1} << 40}}) {
      const std::string bytes = FormatNpyHeader(dtype, shape);
      EXPECT_EQ(bytes.size() % 64, 0u);
      EXPECT_EQ(bytes.back(), '\n');
      const absl::StatusOr<NpyPreamble> preamble = ParseNpyPreamble(bytes);
      ASSERT_TRUE(preamble.ok());
      EXPECT_EQ(preamble->preamble_bytes + preamble->header_bytes,
                static_cast<int64_t>(bytes.size()));
      const absl::StatusOr<NpyHeader> header = ParseNpyHeader(std::string_view(bytes).substr(10));
      ASSERT_TRUE(header.ok()) << header.status();
      EXPECT_EQ(header->dtype, dtype);
      EXPECT_EQ(header->shape, shape);
      EXPECT_FALSE(header->fortran_order || header->big_endian);
    }
  }
}

}  // namespace
}  // namespace shoal::cli
