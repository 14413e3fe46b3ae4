#include <headwise/core/random.hpp>
#include <headwise/position/axial.hpp>
#include <headwise/position/learned.hpp>
#include <headwise/position/learned_per_layer.hpp>
#include <headwise/position/positions.hpp>
#include <headwise/position/rotary.hpp>
#include <headwise/position/sinusoidal.hpp>

#include "report/drawing.hpp"
#include "report/gallery.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace headwise::report {

namespace {

constexpr Index drawn_positions = 64;

Matrix<double> sinusoidal() {
  const position::Sinusoidal encoding(
      {.d_model = drawn_positions, .layout = position::SinusoidLayout::concatenated});
  return encoding.table<double>(position::consecutive(drawn_positions));
}

/// A head of ones, turned: a pair (1, 1) walks around a circle of radius sqrt(2).
Matrix<double> rotary() {
  const position::Rotary encoding({.head_dim = drawn_positions});
  return position::rotate(Matrix<double>::Ones(drawn_positions, drawn_positions).eval(), encoding, 1);
}

/// What is added to a text of zeros is the table itself.
Matrix<double> learned() {
  Rng rng(3);
  const position::Learned<double> encoding({.max_len = 32, .d_model = 32}, rng);
  return encoding(Matrix<double>::Zero(32, 32).eval());
}

/// 16 remembered rows and a segment of 16, with tables of 24 rows: the oldest 8 share the first row.
Matrix<double> learned_per_layer() {
  Rng rng(3);
  const position::LearnedPerLayer<double> encoding({.layers = 1, .max_len = 24, .d_model = 32}, rng);
  Matrix<double> both(32, 32);
  both << encoding.with_memory(Matrix<double>::Zero(16, 32).eval(), 0, 16),
      encoding(Matrix<double>::Zero(16, 32).eval(), 0);
  return both;
}

/// A grid of 4 rows and 8 columns: half of the channels say the row, the other half the column.
Matrix<double> axial() {
  Rng rng(3);
  const position::Axial<double> encoding(
      {.rows = 4, .columns = 8, .row_width = 16, .column_width = 16, .stddev = 0.02}, rng);
  return encoding(Matrix<double>::Zero(32, 32).eval());
}

}  // namespace

std::vector<Picture> draw_positions() {
  std::vector<Picture> pictures;
  const auto add = [&](const std::string& name, const std::string& title, const std::string& caption,
                       const Matrix<double>& numbers, double limit, const std::string& columns) {
    pictures.push_back({"position/" + name, title, caption,
                        draw_numbers(numbers, limit, {"position", columns}, title + ": " + caption)});
  };
  add("sinusoidal", "Sinusoidal",
      "Added to the input: sines to the left, cosines to the right, each channel slower than the one before.",
      sinusoidal(), 1, "channel");
  add("rotary", "Rotary",
      "Turns pairs of channels of query and key, the first quickly, the last hardly: here a head of ones at "
      "each position.",
      rotary(), std::sqrt(2.0), "channel");
  add("learned", "Learned", "Added to the input: a table of 32 rows as it is before training, pure chance.",
      learned(), 0.05, "channel");
  add("learned_per_layer", "Learned per layer",
      "A table of 24 rows before training, for 16 remembered tokens and a segment of 16: the oldest 8 share "
      "the first "
      "row.",
      learned_per_layer(), 0.05, "channel");
  add("axial", "Axial",
      "Two small tables instead of a large one: the left half says the row of a 4 x 8 grid, the right half "
      "the "
      "column.",
      axial(), 0.05, "channel");
  return pictures;
}

}  // namespace headwise::report
