#pragma once

#include "report/results.hpp"
#include "report/table.hpp"

/// The numbers of the report as tables, for the terminal and for the page.
namespace headwise::report {

Table machine_table(const Results& results);

/// One row for each pattern and direction: how its time grows, how its work grows, how well the law fits.
Table exponent_table(const Results& results);

/// Time of one call at every length.
Table time_table(const Results& results, Direction direction);

/// FLOPs a second at every length, with the share of the measured peak.
Table throughput_table(const Results& results, Direction direction);

/// How the tiles cover each pattern at the longest length.
Table tile_table(const Results& results);

/// Exact numbers of pairs of one head.
Table pair_table(const Results& results);

/// Memory beyond the operands, and what the matrix of weights would take that is never formed.
Table memory_table(const Results& results);

/// One token over a cache: time, reading speed against the triad, share of the peak.
Table decode_table(const Results& results);

/// One row a sparse pattern: how its time and its pairs grow, what the paper says, and what it saves.
Table sparse_table(const Results& results);

/// Time of one call of every sparse pattern at every length.
Table sparse_time_table(const Results& results);

/// What each sparse pattern is.
Table sparse_meaning_table(const Results& results);

/// The loss of both kinds of positions in windows of each length; no rows without a study.
Table extrapolation_table(const TrainingStudy& study);

/// Likelihood and speed of a text under each kind of attention.
Table decoder_table(const DecoderStudy& study);

/// Each sentence with its topic, its tokens and its nearest neighbour.
Table sentence_table(const SentenceStudy& study);

/// The other sentence that is most similar.
std::size_t nearest(const SentenceStudy& study, std::size_t sentence);

const Curve* find(const Results& results, Pattern pattern, Direction direction);
const Sample* find(const Curve& curve, Index seq_len);

}  // namespace headwise::report
