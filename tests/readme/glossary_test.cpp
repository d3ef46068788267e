// Terms of the glossary are links at their first use in a lesson or a study.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <vector>

#include "ladon/tests/readme/markdown.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;

struct Term {
  std::string name;    ///< As it stands in prose: "NNGP".
  std::string anchor;  ///< Of its heading: "nngp-neural-network-gaussian-process".
  std::string home;    ///< Page that explains it, which need not link it: "lessons/04_many_heads".
};

/// The anchor that GitHub gives a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading)
    if (c == ' ' || c == '-')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80))
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

std::vector<Term> glossary(const Page& page) {
  std::vector<Term> terms;
  const std::regex entry(R"(### ([^\n]+)\n(?:[^\n]+\n)*?[^\n]*\[[^\]]+\]\(([^)]+)\)\n)");
  for (std::sregex_iterator at(page.text.begin(), page.text.end(), entry), end; at != end; ++at) {
    const std::string heading = (*at)[1];
    terms.push_back({heading.substr(0, heading.find(" (")), anchor_of(heading), (*at)[2]});
  }
  return terms;
}

bool in_word(const std::string& text, std::size_t at) {
  return at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
}

/// Whether the term stands in the text as a word, or as its plural.
bool has(const std::string& text, const std::string& term) {
  for (std::size_t at = text.find(term); at != text.npos; at = text.find(term, at + 1)) {
    std::size_t end = at + term.size();
    if (end < text.size() && text[end] == 's') ++end;
    if ((at == 0 || !in_word(text, at - 1)) && !in_word(text, end)) return true;
  }
  return false;
}

/// Prose without headings, code, formulas, pictures, and without links but those to the glossary.
std::string plain(const Page& page) {
  std::string text = page.prose;
  for (const char* left_out : {R"((^|\n)#[^\n]*)", "central limit theorem", R"(`[^`]*`)",
                               R"(\$\$[^$]*\$\$)", R"(\$[^$]*\$)", R"(!\[[^\]]*\]\([^)]*\))",
                               R"(\[[^\]]*\]\((?![^)]*GLOSSARY)[^)]*\))", R"(<[^>]*>)"})
    text = std::regex_replace(text, std::regex(left_out), " ");
  return text;
}

TEST(Glossary, TermsAreLinkedAtTheirFirstUse) {
  const Page page = read_page(fs::path(LADON_SOURCE_DIR) / "examples" / "GLOSSARY.md");
  const std::vector<Term> terms = glossary(page);
  EXPECT_FALSE(terms.empty());
  EXPECT_EQ(terms.size(),
            static_cast<std::size_t>(std::count(page.text.begin(), page.text.end(), '#') / 3));
  for (const Page& each : all_pages()) {
    if (!each.name.starts_with("examples/") || !each.name.ends_with("/README.md") ||
        each.name == "examples/lessons/README.md")
      continue;
    const std::string text = plain(each);
    for (const Term& term : terms) {
      if (each.name == "examples/" + term.home + "/README.md") continue;
      // The link's own text is the last of what stands before its address.
      const std::size_t address = text.find("GLOSSARY.md#" + term.anchor + ")");
      const std::size_t link = address == text.npos ? address : text.rfind('[', address);
      EXPECT_FALSE(has(text.substr(0, link), term.name))
          << each.name << ": " << term.name << " is not linked where it stands first";
    }
  }
}

}  // namespace
}  // namespace ladon::test
