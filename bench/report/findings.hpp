#pragma once

#include "report/results.hpp"

#include <string>
#include <vector>

/// What the numbers say, in sentences that are computed from them.
namespace headwise::report {

std::string growth_finding(const Results& results, Direction direction);
std::string throughput_finding(const Results& results, Direction direction);
std::string memory_finding(const Results& results);
std::string sentence_finding(const SentenceStudy& study);
std::string sparse_finding(const Results& results, SparsePattern full);
std::string loss_finding(const TrainingStudy& study);
std::string extrapolation_finding(const TrainingStudy& study);
std::string decoder_finding(const DecoderStudy& study);

/// The findings that open the page; those without data are left out.
std::vector<std::string> findings(const Results& results);

}  // namespace headwise::report
