#pragma once
// Path of the source folder.

namespace ladon::test {

/// Root folder of the sources. Its path is compiled only into folders.cpp, so that a compiler cache
/// can reuse all other objects of the tests for another copy of the sources.
const char* source_folder();

}  // namespace ladon::test
