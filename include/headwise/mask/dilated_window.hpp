#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/strided.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headwise::mask {

/// A window with gaps: `reach` tokens on either side and the token itself, `dilation` apart.
///
///     allows(query, key)  <=>  |query - key| <= reach dilation  and  (query - key) mod dilation = 0
///
/// The paper's window w is .reach = w / 2. With dilation 1 it is Band; with `&& Causal{}` the form of the
/// paper's language models. Cost: O(seq_len (2 reach + 1)) over its plan, which gathers each class of tokens,
/// given `window()` as mask; without the plan O(seq_len (2 reach + 1) dilation). Throws ShapeError for a
/// negative reach or a dilation below 1.
/// Paper: Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1.
struct DilatedWindow {
  Index reach = 256;
  Index dilation = 1;

  struct Bound {
    Band window;
    Strided::Bound classes;

    constexpr bool allows(Index query, Index key) const noexcept {
      return window.allows(query, key) && classes.allows(query, key);
    }

    /// A tile holds every difference from its one corner to the opposite one; those beyond the window do not
    /// count for `none`.
    constexpr Coverage coverage(Tile tile) const noexcept {
      const Index least = tile.queries.begin - (tile.keys.end - 1);
      const Index most = (tile.queries.end - 1) - tile.keys.begin;
      const Index from = std::max(least, -window.left), to = std::min(most, window.left);
      if (to - classes.classes.rest(to) < from) return Coverage::none;
      const bool inside = from == least && to == most;
      return inside && (classes.classes.size() == 1 || least == most) ? Coverage::full : Coverage::partial;
    }
  };

  /// The test that is left to do within the plan.
  constexpr Band window() const noexcept { return {.left = reach * dilation, .right = reach * dilation}; }

  constexpr Bound bind(const Context&) const noexcept { return {window(), {BlockOf(dilation)}}; }

  void check(const Context&) const { check("DilatedWindow: reach", "DilatedWindow: dilation"); }

  /// The same for those who have a window, and their own names for its numbers.
  void check(const std::string& reach_name, const std::string& dilation_name) const {
    expect_not_negative(reach_name, reach);
    expect_positive(dilation_name, dilation);
    constexpr Index longest = every_key.end / 4;
    if (reach <= longest / dilation) return;
    fail_shape(reach_name, std::to_string(reach), "at most " + std::to_string(longest / dilation),
               "for no window write Strided");
  }

  /// For attend_over together with the mask window(), which hides what is too far: one item a class of
  /// tokens.
  Plan plan(Index length) const {
    check({});
    return Strided{dilation}.plan(length);
  }
};

/// DilatedWindow with a dilation of its own for each head, one of reach `reach` for all.
///
///     head h:   DilatedWindow{reach, dilations[h]}
///
/// Cost: as DilatedWindow. Throws ShapeError when there is not one dilation a head.
/// Paper: Beltagy et al., 2020, section 3.1: heads with dilation look far, the others look close.
struct DilatedWindowPerHead {
  static constexpr bool reads_head = true;

  Index reach = 256;
  std::vector<Index> dilations;

  DilatedWindow of(Index head) const { return {reach, dilations[std::size_t(head)]}; }
  DilatedWindow::Bound bind(const Context& context) const { return of(context.head).bind(context); }

  void check(const Context& context) const {
    expect_equal("DilatedWindowPerHead: dilations", Index(dilations.size()), context.heads, "one a head");
    for (Index head = 0; head < context.heads; ++head)
      of(head).check("DilatedWindowPerHead: reach",
                     "DilatedWindowPerHead: dilations[" + std::to_string(head) + "]");
  }

  /// The test that is left to do within the plans.
  struct Windows {
    static constexpr bool reads_head = true;

    Index reach = 0;
    std::vector<Index> dilations;

    Band bind(const Context& context) const {
      return DilatedWindow{reach, dilations[std::size_t(context.head)]}.window();
    }
    void check(const Context& context) const { DilatedWindowPerHead{reach, dilations}.check(context); }
  };
  Windows window() const { return {reach, dilations}; }

  /// As DilatedWindow::plan. Throws ShapeError when there is no such head.
  Plan plan(Index length, Index head) const {
    if (head < 0 || head >= Index(dilations.size()))
      fail_shape("DilatedWindowPerHead: head", std::to_string(head),
                 "0 to " + std::to_string(Index(dilations.size()) - 1));
    return of(head).plan(length);
  }
};

}  // namespace headwise::mask
