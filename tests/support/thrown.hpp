#pragma once

#include <exception>
#include <string>

/// What tests say about errors.
namespace headwise::check {

/// The text of the Error that f throws; says so when it throws none.
template <class Error, class F>
std::string thrown(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace headwise::check
