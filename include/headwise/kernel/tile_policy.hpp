#pragma once

#include <headwise/core/math.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/kernel/packing.hpp>

namespace headwise::kernel {

/// A hidden score.
template <class Scalar>
constexpr Scalar hidden() noexcept {
  return Scalar(-math::infinity<Scalar>);
}

/// True unless the score is -inf: what was masked, or removed by a bias of -inf. A NaN is seen.
template <class Scalar>
constexpr bool is_seen(const Scalar& score) noexcept {
  return !(math::real(score) == -math::infinity<Scalar>);
}

/// Mask and score of one head, applied to a micro-tile: scalar functions in lane loops of constant length,
/// which the compiler vectorises. Both are local copies, so that nothing aliases the tile.
template <class Scalar, class Mask, class Score>
class TilePolicy {
 public:
  static constexpr int lanes = MicroTile<Scalar>::lanes;
  static constexpr int keys = MicroTile<Scalar>::keys;
  using Scores = typename MicroTile<Scalar>::template PerPair<Scalar>;

  TilePolicy(const Mask& mask, const Score& score) : mask_(mask), score_(score) {}

  const Score& score() const noexcept { return score_; }

  /// Every pair is visible, and positions grow by one along lanes and keys: no test, no loads. A score that
  /// does nothing needs no positions at all.
  static bool is_plain(const LanePlaces<Scalar>& queries, const PackedKeys<Scalar>& panels,
                       bool full) noexcept {
    return full && (is_identity<Score>() || (queries.affine && panels.affine()));
  }

  /// Scores of a plain tile, in place.
  void apply_plain(Scores& scores, const LanePlaces<Scalar>& queries, const Place* places) const {
    if constexpr (!is_identity<Score>()) {
      const Score score = score_;
      const Place query{queries.position[0], queries.row[0]}, first = places[0];
      for (int key = 0; key < keys; ++key) {
        const Place k{first.position + key, first.row + key};
        for (int lane = 0; lane < lanes; ++lane) {
          const Place q{query.position + lane, query.row + lane};
          scores[key][lane] = headwise::apply(score, scores[key][lane], q, k);
        }
      }
    }
  }

  /// Scores of any other tile, in place: hidden ones become -inf. A score is evaluated only where the mask
  /// allows: a hidden lane borrows the place of a visible one, and its result is dropped.
  void apply_tested(Scores& scores, const LanePlaces<Scalar>& queries, const Place* places, int key_count,
                    bool full) const {
    const Score score = score_;
    for (int key = 0; key < keys; ++key) {
      Lanes at;
      if (!see(at, queries, places[key], key < key_count, full)) {
        for (int lane = 0; lane < lanes; ++lane) scores[key][lane] = hidden<Scalar>();
        continue;
      }
      if constexpr (!is_identity<Score>()) {
        for (int lane = 0; lane < lanes; ++lane) {
          scores[key][lane] =
              headwise::apply(score, scores[key][lane], Place{at.position[lane], at.row[lane]}, places[key]);
        }
      }
      for (int lane = 0; lane < lanes; ++lane)
        scores[key][lane] = math::select(at.seen[lane] != 0, scores[key][lane], hidden<Scalar>());
    }
  }

  /// The score's derivative on a whole tile: `d` holds the gradient after the score and gets the one before.
  /// raw: the scores before the policy. collect(key, lane, place of the query, numbers) is called for pairs
  /// that are seen, in fixed order.
  template <class Collect>
  void pull_back(const Scores& raw, const Scores& scores, Scores& d, const LanePlaces<Scalar>& queries,
                 const Place* places, Collect&& collect) const {
    const Score score = score_;
    for (int key = 0; key < keys; ++key) {
      int visible = -1;
      for (int lane = lanes - 1; lane >= 0; --lane) visible = is_seen(scores[key][lane]) ? lane : visible;
      if (visible < 0) {
        for (int lane = 0; lane < lanes; ++lane) d[key][lane] = Scalar(0);
        continue;
      }
      const Place borrowed{queries.position[visible], queries.row[visible]};
      for (int lane = 0; lane < lanes; ++lane) {
        const bool seen = is_seen(scores[key][lane]);
        const Place q{seen ? queries.position[lane] : borrowed.position,
                      seen ? queries.row[lane] : borrowed.row};
        const auto back = headwise::pull_back(score, math::select(seen, raw[key][lane], raw[key][visible]), q,
                                              places[key], math::select(seen, d[key][lane], Scalar(0)));
        d[key][lane] = math::select(seen, back.score, Scalar(0));
        if constexpr (learned_of<Score>().size() > 0) {
          if (seen) collect(key, lane, q, back.learned);
        }
      }
    }
  }

 private:
  struct Lanes {
    typename MicroTile<Scalar>::template PerLane<int> seen;
    typename MicroTile<Scalar>::template PerLane<Position> position, row;
  };

  /// Which lanes see this key, and the places at which their scores are evaluated. False when none does.
  bool see(Lanes& at, const LanePlaces<Scalar>& queries, Place key, bool present, bool full) const {
    if (!present) return false;
    const Mask mask = mask_;
    for (int lane = 0; lane < lanes; ++lane) at.seen[lane] = int(lane < queries.count);
    if (!full) {
      for (int lane = 0; lane < lanes; ++lane) {
        const Place q{queries.position[lane], queries.row[lane]};
        at.seen[lane] &= int(headwise::allows(mask, q, key));
      }
    }
    int visible = -1;
    for (int lane = lanes - 1; lane >= 0; --lane) visible = at.seen[lane] != 0 ? lane : visible;
    if (visible < 0) return false;
    for (int lane = 0; lane < lanes; ++lane) {
      at.position[lane] = at.seen[lane] != 0 ? queries.position[lane] : queries.position[visible];
      at.row[lane] = at.seen[lane] != 0 ? queries.row[lane] : queries.row[visible];
    }
    return true;
  }

  Mask mask_;
  Score score_;
};

}  // namespace headwise::kernel
