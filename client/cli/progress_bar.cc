#include "client/cli/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"
#include "client/cli/text.h"

namespace shoal::cli {
namespace {

constexpr std::chrono::milliseconds kFirstDraw(500);
constexpr std::chrono::milliseconds kRedraw(100);
constexpr int kBarMin = 10;
constexpr int kBarMax = 40;

std::string Bar(double share, int width, const ProgressStyle& style) {
  const int full = static_cast<int>(share * width);
  std::string done, rest;
  for (int i = 0; i < width; ++i) {
    if (i < full) {
      done += style.unicode ? "\u2588" : "#";
    } else {
      rest += style.unicode ? "\u2591" : "-";
    }
  }
  if (style.color) done = absl::StrCat("\x1b[36m", done, "\x1b[0m");
  return absl::StrCat("[", done, rest, "]");
}

}  // namespace

std::string RenderProgress(const ProgressState& state, const ProgressStyle& style) {
  const double share = state.bytes_total <= 0
                           ? 0
                           : std::clamp(static_cast<double>(state.bytes_done) /
                                            static_cast<double>(state.bytes_total),
                                        0.0, 1.0);
  const double seconds = std::chrono::duration<double>(state.elapsed).count();
  const double rate = seconds > 0 ? static_cast<double>(state.bytes_done) / seconds : 0;
  std::string figures = absl::StrFormat("  %3d%%  %s of %s  %s", static_cast<int>(share * 100),
                                        FormatBytes(state.bytes_done),
                                        FormatBytes(state.bytes_total), FormatRate(rate));
  const double left = static_cast<double>(state.bytes_total - state.bytes_done) / rate;
  if (rate > 0 && left < 360000) {
    const auto whole = static_cast<int>(std::lround(left));
    absl::StrAppendFormat(&figures, "  %d:%02d left", whole / 60, whole % 60);
  }
  const std::string label = absl::StrCat(Printable(state.label), "  ");
  const int room = style.columns - 3 - static_cast<int>(label.size() + figures.size());
  if (room >= kBarMin)
    return absl::StrCat(label, Bar(share, std::min(room, kBarMax), style), figures);
  return absl::StrCat(label, figures.substr(2)).substr(0, static_cast<size_t>(style.columns - 1));
}

ProgressBar::ProgressBar(std::ostream& out, Options options)
    : out_(out),
      options_(std::move(options)),
      start_(options_.now()),
      next_draw_(start_ + kFirstDraw) {}

ProgressBar::~ProgressBar() {
  if (drawn_) out_ << "\r\x1b[K" << std::flush;
}

void ProgressBar::Update(int64_t bytes_done, int64_t bytes_total) {
  if (!options_.enabled) return;
  const auto now = options_.now();
  if (now < next_draw_) return;
  next_draw_ = now + kRedraw;
  drawn_ = true;
  out_ << "\r\x1b[K"
       << RenderProgress({options_.label, bytes_done, bytes_total, now - start_}, options_.style)
       << std::flush;
}

Progress ProgressBar::Callback() {
  if (!options_.enabled) return nullptr;
  return [this](int64_t bytes_done, int64_t bytes_total) { Update(bytes_done, bytes_total); };
}

}  // namespace shoal::cli
