#pragma once
// Where the checkout stands.

namespace ladon::test {

/// The root of the checkout. Its path is compiled into folders.cpp alone, so that a compiler's
/// cache shares all other objects of the tests between checkouts.
const char* source_folder();

}  // namespace ladon::test
