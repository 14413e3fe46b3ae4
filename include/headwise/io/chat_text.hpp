#pragma once

#include <headwise/io/byte_pair.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headwise::io {

/// What one side said.
struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// The tokens of a conversation in the ChatML form that SmolLM2 was tuned on, up to where the assistant's
/// turn begins:
///
///     <|im_start|>role \n content <|im_end|> \n ... <|im_start|>assistant \n
///
/// A conversation without a system message gets `system` as its first, unless that is empty. Roles and
/// contents are encoded as plain text: nothing that a writer says can end a turn. Throws ShapeError when the
/// vocabulary has no
/// <|im_start|> or <|im_end|>.
inline std::vector<TokenId> chat_tokens(
    const BytePair& tokenizer, const std::vector<ChatMessage>& messages,
    std::string_view system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face") {
  const TokenId start = tokenizer.special("<|im_start|>"), end = tokenizer.special("<|im_end|>");
  std::vector<TokenId> ids;
  const auto append = [&](std::string_view text) {
    const std::vector<TokenId> tokens = tokenizer.encode(text, SpelledSpecials::text);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  };
  const auto say = [&](const std::string& role, std::string_view content) {
    ids.push_back(start);
    append((role + "\n").append(content));
    ids.push_back(end);
    append("\n");
  };
  if (!system.empty() && (messages.empty() || messages.front().role != "system")) say("system", system);
  for (const ChatMessage& message : messages) say(message.role, message.content);
  ids.push_back(start);
  append("assistant\n");
  return ids;
}

}  // namespace headwise::io
