#include "report/table.hpp"

#include "report/markup.hpp"

#include <algorithm>
#include <stdexcept>

namespace headwise::report {

namespace {

void expect_rectangle(const Table& table) {
  for (const auto& row : table.rows) {
    if (row.size() == table.head.size()) continue;
    throw std::invalid_argument("Table: \"" + table.caption + "\" has a row of " +
                                std::to_string(row.size()) + " cells, expected " +
                                std::to_string(table.head.size()));
  }
}

/// Columns that a terminal needs: one a code point, as in all the text that the report writes.
std::size_t width(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string aligned(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    bool words) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths[i] - width(cells[i]), ' ');
    line += (i == 0 || words ? "  " + cells[i] + space : "  " + space + cells[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  expect_rectangle(table);
  std::vector<std::size_t> widths;
  for (const std::string& cell : table.head) widths.push_back(width(cell));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));

  std::vector<std::string> rule;
  for (std::size_t w : widths) rule.emplace_back(w, '-');
  std::string text = table.caption.empty() ? "" : table.caption + "\n";
  text += aligned(table.head, widths, table.words) + aligned(rule, widths, table.words);
  for (const auto& row : table.rows) text += aligned(row, widths, table.words);
  return text;
}

std::string to_html(const Table& table) {
  expect_rectangle(table);
  std::string head;
  for (const std::string& cell : table.head) head += element("th", "scope=\"col\"", escape(cell));
  std::string body;
  for (const auto& row : table.rows) {
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells += i == 0 ? element("th", "scope=\"row\"", with_raised_powers(row[i]))
                      : element("td", "", with_raised_powers(row[i]));
    body += element("tr", "", cells) + "\n";
  }
  const std::string caption = table.caption.empty() ? "" : element("caption", "", escape(table.caption));
  const std::string inside =
      caption + element("thead", "", element("tr", "", head)) + element("tbody", "", body);
  return element(
             "div",
             "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escape(table.caption) + "\"",
             element("table", table.words ? "class=\"words\"" : "", inside)) +
         "\n";
}

}  // namespace headwise::report
