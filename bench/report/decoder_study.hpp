#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <filesystem>
#include <string_view>

namespace headwise::report {

/// The text that the decoder reads: the beginning of a book whose copyright has ended.
std::string_view excerpt();

/// How well the decoder in a GGUF file predicts `excerpt`, dense and with its attention cut to windows. The
/// text is shortened where reading it four times would take longer than `budget` seconds; dense attention
/// and a window only differ beyond 256 tokens, so it never falls below 320. Without a file, or when it holds
/// no such model, the study only says so.
DecoderStudy study_decoder(const std::filesystem::path& file, double budget, Progress& progress);

}  // namespace headwise::report
