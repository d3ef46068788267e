#pragma once
// Classes of characters.

#include <cstdint>

namespace ladon {

/// Class of a character, by its general category in Unicode 14.0: L is a letter, N a number; white
/// space has the property White_Space; everything else, including −1, is other.
enum class CharacterClass { letter, number, space, other };
CharacterClass class_of(std::int32_t code);

}  // namespace ladon
