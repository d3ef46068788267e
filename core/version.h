#pragma once
// Version of Ladon, by SemVer: .github/CHANGELOG.md says what it promises.

namespace ladon {

/// "0.2.0": that of the library that is linked. Files of save_safetensors() have it as
/// "ladon.version".
const char* version();

}  // namespace ladon
