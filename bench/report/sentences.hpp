#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <filesystem>

namespace headwise::report {

/// Embeds a dozen sentences of four topics with the model in `folder` and times it. Without a folder, or when
/// it holds no model, the study only says so.
SentenceStudy study_sentences(const std::filesystem::path& folder, double budget, Progress& progress);

}  // namespace headwise::report
