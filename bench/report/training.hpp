#pragma once

#include "report/results.hpp"

#include <string>
#include <vector>

namespace headwise::report {

/// Reads what the examples that train have written: the loss curve of train_char_lm --curve FILE, the losses
/// of extrapolate --results FILE, in any order; of two of a kind the later one counts. Throws
/// std::runtime_error, naming the file, when one cannot be read or is neither.
TrainingStudy read_training(const std::vector<std::string>& files);

}  // namespace headwise::report
