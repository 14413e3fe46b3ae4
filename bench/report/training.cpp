#include "report/training.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace headwise::report {

namespace {

using nlohmann::json;

std::string name_of_text(const json& file) {
  return std::filesystem::path(file.at("text").get<std::string>()).filename().string();
}

LossCurve loss_curve(const json& file) {
  LossCurve curve{name_of_text(file),
                  {},
                  file.at("ngram").get<Index>(),
                  file.at("ngram_entropy").get<double>(),
                  file.at("sample").get<std::string>()};
  for (const json& point : file.at("curve"))
    curve.points.push_back({point.at("step").get<Index>(), point.at("train").get<double>(),
                            point.at("validation").get<double>()});
  if (curve.points.empty()) throw std::runtime_error("curve is empty, expected a point or more");
  return curve;
}

Extrapolation extrapolation(const json& file) {
  Extrapolation result{name_of_text(file), file.at("trained_on").get<Index>(), {}};
  for (const json& row : file.at("losses"))
    result.losses.push_back(
        {row.at("window").get<Index>(), row.at("alibi").get<double>(), row.at("sinusoidal").get<double>()});
  if (result.losses.empty()) throw std::runtime_error("losses is empty, expected a window or more");
  return result;
}

void read_into(TrainingStudy& study, const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("the file cannot be opened");
  const json file = json::parse(stream);
  if (file.contains("curve")) {
    study.curve = loss_curve(file);
  } else if (file.contains("losses")) {
    study.extrapolation = extrapolation(file);
  } else {
    throw std::runtime_error(
        "it has neither a curve nor losses; expected what train_char_lm --curve or extrapolate --results "
        "wrote");
  }
}

}  // namespace

TrainingStudy read_training(const std::vector<std::string>& files) {
  TrainingStudy study;
  for (const std::string& path : files) {
    try {
      read_into(study, path);
    } catch (const std::exception& error) {
      throw std::runtime_error("--training " + path + ": " + error.what());
    }
  }
  return study;
}

}  // namespace headwise::report
