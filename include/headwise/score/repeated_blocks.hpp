#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/mask/random_blocks.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace headwise::score {

/// Big Bird's blocks counted as often as the published sparse code counts them: a random block that the
/// window or a global block shows already has twice the weight.
///
///     s + log N(query, key),   N: 1 if the key is in the window or in a global block, and 1 for each time
///     that
///                              its block is drawn
///
/// Goes with mask::BigBird of the same table, for weights that were trained with that code; its plan with
/// repeats is the other way to say it. The rows of the first and the last block count everything once. It
/// goes by rows. Throws as mask::RandomBlocks; nothing is learned.
class RepeatedBlocks {
 public:
  using policy = ScoreTag;

  explicit RepeatedBlocks(mask::RandomBlocks random) : random_(std::move(random)) {}

  template <class Scalar>
  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;

    const std::int32_t* table = nullptr;  ///< of the head: [blocks][random]
    const Scalar* log = nullptr;          ///< of 1, 2, 3, ...
    BlockOf block;
    Index last = 0, random = 0;

    Scalar operator()(Scalar s, Position query, Position key) const {
      const Index row = block(query), of_key = block(key);
      const std::int32_t* drawn = table + row * random;
      Index times = 0;
      for (Index i = 0; i < random; ++i) times += Index(drawn[i] == of_key);
      const bool window = row - 1 <= of_key && of_key <= row + 1;
      const Index once = Index(window || of_key == 0 || of_key == last);
      const bool sees_all = row == 0 || row == last;
      return s + log[sees_all ? 0 : times + once - 1];
    }

    PullBack<Scalar> pull_back(Scalar, Position, Position, Scalar d) const { return {d, {}}; }
  };

  template <class Scalar>
  auto bind(const Context& context) const {
    return Owner<Scalar>(*this, context);
  }

  void check(const Context& context) const { random_.check(context, "RepeatedBlocks"); }

 private:
  /// Owns the tables that the lanes read.
  template <class Scalar>
  class Owner {
   public:
    static constexpr Coordinates coordinates = Coordinates::rows;

    Owner(const RepeatedBlocks& score, const Context& context) {
      const mask::RandomBlocks& random = score.random_;
      for (Index row = 0; row < random.blocks(); ++row)
        for (Index i = 0; i < random.random(); ++i)
          table_.push_back(std::int32_t(random.at(context.head, row, i)));
      for (Index n = 1; n <= random.random() + 1; ++n) log_.push_back(Scalar(std::log(double(n))));
      const Index length = context.key_rows.size(), size = random.block_size();
      last_ = length > 0 ? (length - 1) / size : 0;
      block_ = BlockOf(size);
      random_ = random.random();
    }

    Bound<Scalar> view() const noexcept { return {table_.data(), log_.data(), block_, last_, random_}; }

    Scalar operator()(Scalar s, Position query, Position key) const { return view()(s, query, key); }
    PullBack<Scalar> pull_back(Scalar, Position, Position, Scalar d) const { return {d, {}}; }

   private:
    std::vector<std::int32_t> table_;
    std::vector<Scalar> log_;
    BlockOf block_;
    Index last_ = 0, random_ = 0;
  };

  mask::RandomBlocks random_;
};

}  // namespace headwise::score
