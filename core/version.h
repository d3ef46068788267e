#pragma once
// Version of Ladon, by SemVer: .github/CHANGELOG.md says what it promises.

namespace ladon {

/// "0.2.0": the version of the linked library. save_safetensors() writes it to its files as
/// "ladon.version".
const char* version();

}  // namespace ladon
