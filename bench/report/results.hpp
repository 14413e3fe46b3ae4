#pragma once

#include <headwise/core/matrix.hpp>

#include "report/ceilings.hpp"
#include "report/power_law.hpp"
#include "report/stopwatch.hpp"
#include "report/work.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

/// What the report found, before anyone decides how to show it.
namespace headwise::report {

struct MachineFacts {
  std::string cpu, system, compiler, date;
  std::string compiled_for;  ///< instruction set of the program
  std::string kernel_set;    ///< instruction set of the attention kernels
  int cores = 0;
};

enum class Direction { forward, backward };

/// One timed call of attention.
struct Sample {
  Index seq_len = 0;
  Timing timing;
  double flops = 0;
};

/// One pattern over all lengths.
struct Curve {
  Pattern pattern{};
  Direction direction{};
  std::vector<Sample> samples;  ///< in order of length
  std::optional<PowerLaw>
      time_law;  ///< of the time from `fitted_from` on; none with fewer than three lengths
  std::optional<PowerLaw> fastest_law;  ///< the same of the fastest run of each length
  std::optional<PowerLaw> work_law;     ///< of the exact number of pairs over the same lengths
  std::vector<Index> skipped;           ///< lengths whose call would have taken too long
};

/// Lengths below are left out of the fits: overheads and the window's own start are not the law that is asked
/// for.
inline constexpr Index fitted_from = 1024;

/// Patterns that are timed with one head against the full attention that they save.
enum class SparsePattern { dense, causal, strided, fixed, routing, blockwise, longformer, big_bird, lsh };

inline constexpr std::array<SparsePattern, 9> sparse_patterns{
    SparsePattern::dense,    SparsePattern::blockwise, SparsePattern::longformer,
    SparsePattern::big_bird, SparsePattern::lsh,       SparsePattern::causal,
    SparsePattern::strided,  SparsePattern::fixed,     SparsePattern::routing};

/// One of them over all lengths, forward.
struct SparseCurve {
  SparsePattern pattern{};
  std::vector<Sample> samples;           ///< in order of length
  std::optional<PowerLaw> time_law;      ///< none with fewer than three lengths
  std::optional<PowerLaw> work_law;      ///< of the exact number of pairs over the same lengths
  std::optional<PowerLaw> promised_law;  ///< of the paper's cost over the same lengths
};

/// How the tiles of one head cover a pattern, as the library's `explain` says.
struct TileUse {
  Pattern pattern{};
  Index seq_len = 0;
  Index pairs = 0;           ///< that the mask allows
  Index computed_pairs = 0;  ///< that the tiles compute
  Index skipped = 0, partial = 0, full = 0;
  Index tile_queries = 0, tile_keys = 0;
  std::string instruction_set;  ///< that the kernel was compiled for
};

/// Memory that one call took beyond its operands, as the operating system saw it.
struct MemoryUse {
  Pattern pattern{};
  Index seq_len = 0;
  double forward_bytes = 0, backward_bytes = 0;
};

/// One new token over a cache, as in decoding: bound by reading the cache, not by arithmetic.
struct DecodeSample {
  Index cache = 0, kv_heads = 0;
  Timing timing;
  double bytes = 0;  ///< of the keys and values of the cache
  double flops = 0;
};

/// Real sentences through the real model.
struct SentenceStudy {
  std::string problem;  ///< why there is no study; empty when there is one
  std::string model;    ///< name of the folder that the weights came from
  std::vector<std::string> sentences, topics;
  Matrix<double> similarity;  ///< [sentences, sentences], cosine
  std::vector<Index> tokens;  ///< of each sentence
  Index dimensions = 0;       ///< numbers an embedding has
  double seconds_per_sentence = 0, tokens_per_second = 0;
};

/// One point of a training: mean losses in nats a character.
struct LossPoint {
  Index step = 0;
  double train = 0, validation = 0;
};

/// A training that an example wrote down.
struct LossCurve {
  std::string text;  ///< name of the file that was learned
  std::vector<LossPoint> points;
  Index ngram = 0;           ///< order of the n-gram model to beat
  double ngram_entropy = 0;  ///< its loss
  std::string sample;        ///< what the trained model wrote
};

/// Losses of one window length, with two kinds of positions.
struct WindowLoss {
  Index window = 0;
  double alibi = 0, sinusoidal = 0;
};

/// Models that were trained on short windows and read longer ones.
struct Extrapolation {
  std::string text;
  Index trained_on = 0;
  std::vector<WindowLoss> losses;
};

/// What the examples that train have written.
struct TrainingStudy {
  std::optional<LossCurve> curve;
  std::optional<Extrapolation> extrapolation;
};

/// A text under one kind of attention.
struct TextLikelihood {
  std::string attention;  ///< window:64 + sinks:4
  double nll = 0;         ///< mean negative log-likelihood of a token, in nats
  double tokens_per_second = 0;
};

/// A real text through a real decoder whose attention is swapped.
struct DecoderStudy {
  std::string problem;  ///< why there is no study; empty when there is one
  std::string model;    ///< name of the file
  Index tokens = 0;     ///< of the text
  std::vector<TextLikelihood> rows;
};

/// One picture of the library's own policies.
struct Picture {
  std::string name;  ///< mask/causal: where docs/figures keeps it
  std::string title;
  std::string caption;
  std::string svg;
};

struct Results {
  MachineFacts machine;
  Ceilings ceilings;
  std::vector<Curve> curves;
  std::vector<TileUse> tiles;
  std::vector<MemoryUse> memory;
  std::vector<DecodeSample> decoding;
  std::vector<SparseCurve> sparse;
  SentenceStudy sentences;
  TrainingStudy training;
  DecoderStudy decoder;
  std::vector<Picture> masks, calls, scores, positions;
  Index longest = 0;
  double minutes = 0;
};

}  // namespace headwise::report
