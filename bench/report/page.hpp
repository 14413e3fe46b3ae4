#pragma once

#include "report/results.hpp"

#include <string>

namespace headwise::report {

/// The whole report as one HTML file that needs nothing else: no script, no font, no network.
std::string page(const Results& results);

/// Sparse patterns beside full attention, training, and a real text under other attention.
std::string sparse_section(const Results& results);
std::string training_section(const TrainingStudy& study);
std::string decoder_section(const DecoderStudy& study);

/// Its style sheet.
std::string_view page_style();

/// Similarities as a table of coloured numbers.
std::string similarity_map(const SentenceStudy& study);

}  // namespace headwise::report
