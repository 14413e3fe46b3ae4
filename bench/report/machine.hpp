#pragma once

#include "report/results.hpp"

namespace headwise::report {

/// CPU, system, compiler and date, as far as the system tells; "unknown" for the rest.
MachineFacts machine_facts();

}  // namespace headwise::report
