#include "report/page.hpp"

#include "report/charts.hpp"
#include "report/drawing.hpp"
#include "report/findings.hpp"
#include "report/markup.hpp"
#include "report/numbers.hpp"
#include "report/page_parts.hpp"
#include "report/palette.hpp"
#include "report/tables.hpp"

#include <cmath>

namespace headwise::report {

namespace {

std::string opening(const Results& results) {
  std::string list;
  for (const std::string& finding : findings(results))
    list += element("li", "", with_raised_powers(finding)) + "\n";
  std::string links;
  const std::pair<const char*, const char*> targets[] = {{"cost", "Cost and length"},
                                                         {"sparse", "Sparse patterns"},
                                                         {"training", "Training"},
                                                         {"decoder", "A real text"},
                                                         {"sentences", "Real sentences"},
                                                         {"masks", "Masks"},
                                                         {"calls", "Calls"},
                                                         {"scores", "Scores"},
                                                         {"positions", "Positions"},
                                                         {"how", "How it was measured"}};
  for (const auto& [id, title] : targets)
    links += element("a", "href=\"#" + std::string(id) + "\"", title) + "\n";
  return element(
             "header", "",
             element("h1", "", "Headwise report") +
                 element("p", "class=\"lede\"",
                         escape("What attention costs on this machine, and what its patterns look like. " +
                                results.machine.cpu + ", " + results.machine.date + "."))) +
         "\n" + element("nav", "aria-label=\"Sections\"", links) + "\n" +
         (list.empty() ? "" : element("ul", "class=\"findings\"", list)) + "\n";
}

std::string cost_section(const Results& results) {
  std::string inside = paragraph(
      "Four patterns, the same shapes: 8 heads of 64 numbers, single precision, one core. Dense: every token "
      "sees every "
      "token. Causal: itself and all before it. Windowed: itself and the 255 before it. ALiBi: causal, with "
      "a penalty "
      "that grows with distance. A straight line on these axes is a power law, and its slope is the "
      "exponent.");
  inside += element("div", "class=\"pair\"",
                    chart_figure(time_chart(results, Direction::forward), "forward-",
                                 growth_finding(results, Direction::forward)) +
                        chart_figure(time_chart(results, Direction::backward), "backward-",
                                     growth_finding(results, Direction::backward)));
  inside += to_html(exponent_table(results));
  inside += paragraph(
      "The exponent of the work is fitted to the exact number of pairs over the same lengths: the two should "
      "agree. Where "
      "time grows more slowly than work, short calls still pay overheads; where faster, long ones leave the "
      "caches. The "
      "fastest run of each length is fitted as well: where its exponent differs much from that of the "
      "median, other "
      "programs disturbed the machine.");
  inside += element("h3", "", "Throughput") +
            element("div", "class=\"pair\"",
                    chart_figure(throughput_chart(results, Direction::forward), "rate-",
                                 throughput_finding(results, Direction::forward)) +
                        chart_figure(throughput_chart(results, Direction::backward), "back-rate-",
                                     throughput_finding(results, Direction::backward)));
  inside += folded("All times", to_html(time_table(results, Direction::forward)) +
                                    to_html(time_table(results, Direction::backward)));
  inside += folded("All throughputs", to_html(throughput_table(results, Direction::forward)) +
                                          to_html(throughput_table(results, Direction::backward)));
  inside += folded("Exact numbers of pairs",
                   to_html(pair_table(results)) + to_html(tile_table(results)) +
                       paragraph("A tile is skipped when the mask hides all of it, trusted "
                                 "when it hides nothing, and tested pair by pair otherwise: "
                                 "tested tiles compute some pairs in vain."));
  inside += element("h3", "", "Memory");
  if (results.memory.empty()) {
    inside += paragraph("This system does not tell how much memory a process took at most.");
  } else {
    inside += paragraph(memory_finding(results)) + to_html(memory_table(results));
  }
  if (!results.decoding.empty()) {
    inside +=
        paragraph(
            "A model that writes asks for one token at a time. Then attention is as fast as the cache can "
            "be read: keys and values are read once, in the order in which they lie, for all query heads "
            "that share them. Short caches stay in the processor and read faster than memory.") +
        to_html(decode_table(results));
  }
  return section("cost", "Cost against length", inside);
}

std::string sentence_section(const SentenceStudy& study) {
  if (!study.problem.empty()) {
    return section("sentences", "Real sentences", warning("Not measured: " + study.problem));
  }
  std::string inside = paragraph(
      "A published sentence encoder (" + study.model + "), read from its weights, turns each sentence into " +
      std::to_string(study.dimensions) +
      " numbers; the cosine of two of them says how alike the sentences are. " + sentence_finding(study));
  inside += figure(
      similarity_map(study),
      element("b", "", "Cosine similarity of every two sentences") +
          escape("Rows and columns are the same sentences, topic by topic: orange blocks along the diagonal "
                 "mean that the model groups sentences by what they are about."));
  inside += to_html(sentence_table(study));
  return section("sentences", "Real sentences", inside);
}

std::string gallery(const std::vector<Picture>& pictures, bool charts) {
  std::string inside;
  for (const Picture& picture : pictures)
    inside += figure(picture.svg, element("b", "", escape(picture.title)) + escape(picture.caption),
                     charts ? "chart" : "");
  return element("div", charts ? "class=\"gallery curves\"" : "class=\"gallery\"", inside);
}

std::string gallery_sections(const Results& results) {
  const std::string masks = paragraph(
                                "Row: the token that asks. Column: the token it may look at. Filled: it may. "
                                "48 tokens; drawn by asking "
                                "the mask about every pair.") +
                            gallery(results.masks, false);
  const std::string calls =
      paragraph(
          "Patterns of several softmaxes or projections, or that look at content before "
          "they choose. Drawn by asking the call itself: given the rows of the identity "
          "as values, it returns its weights.") +
      gallery(results.calls, false);
  const std::string scores =
      results.scores.empty()
          ? warning("No curves here: gnuplot was not installed when this page was written.")
          : paragraph("A score policy changes the scaled dot product before the softmax.") +
                gallery(results.scores, true);
  const std::string positions = paragraph(
                                    "Row: the position of a token. Column: a channel. Blue is negative, "
                                    "orange positive, pale near zero.") +
                                gallery(results.positions, false);
  return section("masks", "Masks: who sees whom", masks) +
         section("calls", "Patterns that are calls of their own", calls) +
         section("scores", "Scores: what distance does", scores) +
         section("positions", "Positions", positions);
}

std::string method_section(const Results& results) {
  std::string inside = to_html(machine_table(results));
  inside += paragraph(
      "Every time is the median of up to nine calls of the library's own verb, on random matrices, in "
      "processor "
      "time of the one thread, so that other programs disturb it little. The runs come in three rounds "
      "through all "
      "lengths, in which the patterns take turns; the first call of a round warms up and does not count, "
      "unless it is "
      "so long that few fit, and calls of more than 2.5 s are made once. Work counts the dot products "
      "only: 4 FLOPs "
      "a pair and channel forward, 10 backward; the exponentials come on top and are not counted. The number "
      "of pairs "
      "is a closed form that is checked against what the library's explain() says before anything is timed.");
  inside += paragraph(
      "An exponent is the slope of an ordinary least-squares line through the logarithms of length and time, "
      "with its "
      "standard error; r² is the share of the variance that the line explains. Lengths below " +
      grouped(fitted_from) + " tokens are shown but not fitted: the window of " + grouped(window_width) +
      " tokens is a triangle there, and overheads weigh most. The peak is measured in the same run with "
      "twelve "
      "independent chains of multiply-adds in registers, the bandwidth with a triad over arrays that no "
      "private cache "
      "holds. The memory of a call is the growth of the peak resident size of a process that makes only this "
      "call.");
  inside +=
      element("p", "class=\"note\"", escape("This report took " + duration(60 * results.minutes) + "."));
  return section("how", "How it was measured", inside);
}

}  // namespace

std::string similarity_map(const SentenceStudy& study) {
  constexpr double saturation = 0.7;  // unrelated sentences lie near 0, paraphrases above this
  std::string head = element("td", "", "");
  for (std::size_t i = 0; i < study.sentences.size(); ++i)
    head += element("th", "scope=\"col\"", std::to_string(i + 1));
  std::string body;
  for (std::size_t i = 0; i < study.sentences.size(); ++i) {
    std::string cells =
        element("th", "scope=\"row\"",
                std::to_string(i + 1) + " " + element("span", "class=\"long\"", escape(study.sentences[i])));
    for (std::size_t j = 0; j < study.sentences.size(); ++j) {
      const double cosine = study.similarity(Index(i), Index(j));
      const std::string ink = std::abs(cosine) > 0.8 * saturation ? "#fff" : "#22272b";
      cells += element("td", "style=\"background:" + colour_of(cosine, saturation) + ";color:" + ink + "\"",
                       i == j ? "1" : fixed(cosine, 2));
    }
    body += element("tr", "", cells) + "\n";
  }
  return element(
      "div",
      "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Similarity of every two sentences\"",
      element("table", "class=\"map\"",
              element("thead", "", element("tr", "", head)) + element("tbody", "", body)));
}

std::string page(const Results& results) {
  const std::string body =
      opening(results) +
      element("main", "",
              cost_section(results) + sparse_section(results) + training_section(results.training) +
                  decoder_section(results.decoder) + sentence_section(results.sentences) +
                  gallery_sections(results) + method_section(results));
  std::string head =
      "<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
      element("title", "", "Headwise report") + "\n";
  std::string style(palette_css());
  style.append(page_style());
  head += element("style", "", style) + "\n";
  return "<!doctype html>\n" +
         element("html", "lang=\"en\"", element("head", "", head) + "\n" + element("body", "", body)) + "\n";
}

}  // namespace headwise::report
