#include <headwise/position/positions.hpp>
#include <headwise/position/sinusoidal.hpp>

#include "report/drawing.hpp"
#include "report/gallery.hpp"

namespace headwise::report {

std::vector<Picture> draw_positions() {
  std::vector<Picture> pictures;
  const auto positions = position::consecutive(64);
  const position::Sinusoidal sinusoidal({.d_model = 64, .layout = position::SinusoidLayout::concatenated});
  const std::string caption =
      "Sines to the left, cosines to the right, each channel slower than the one before.";
  pictures.push_back(
      {"position/sinusoidal", "Sinusoidal", caption,
       draw_numbers(sinusoidal.table<double>(positions), 1, {"position", "channel"}, caption)});
  return pictures;
}

}  // namespace headwise::report
