#pragma once
// Classes of characters: letters, numbers, white space and others.

#include <cstdint>

namespace ladon {

/// Class of a character, by its general category in Unicode 14.0: categories L… are `letter`,
/// categories N… `number`. Characters with the property White_Space are `space`. All other codes,
/// including −1 (not well-formed), are `other`.
enum class CharacterClass { letter, number, space, other };
CharacterClass class_of(std::int32_t code);

}  // namespace ladon
