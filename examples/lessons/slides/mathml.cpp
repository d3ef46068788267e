#include "ladon/examples/lessons/slides/mathml.h"

#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/examples/common/text.h"

namespace ladon::lessons {

using example::escaped;

namespace {

const std::map<std::string, std::string> letters = {
    {"alpha", "α"},   {"beta", "β"},    {"gamma", "γ"},      {"Gamma", "Γ"},  {"delta", "δ"},
    {"Delta", "Δ"},   {"epsilon", "ϵ"}, {"varepsilon", "ε"}, {"zeta", "ζ"},   {"eta", "η"},
    {"theta", "θ"},   {"Theta", "Θ"},   {"kappa", "κ"},      {"lambda", "λ"}, {"Lambda", "Λ"},
    {"mu", "μ"},      {"nu", "ν"},      {"xi", "ξ"},         {"Xi", "Ξ"},     {"pi", "π"},
    {"rho", "ρ"},     {"sigma", "σ"},   {"Sigma", "Σ"},      {"tau", "τ"},    {"phi", "φ"},
    {"varphi", "φ"},  {"Phi", "Φ"},     {"chi", "χ"},        {"psi", "ψ"},    {"Psi", "Ψ"},
    {"omega", "ω"},   {"Omega", "Ω"},   {"ell", "ℓ"},        {"infty", "∞"},  {"top", "⊤"},
    {"partial", "∂"}, {"nabla", "∇"},   {"ldots", "…"},      {"dots", "…"},   {"cdots", "⋯"},
    {"vdots", "⋮"},   {"emptyset", "∅"}};

const std::map<std::string, std::string> operators = {
    {"cdot", "·"},       {"times", "×"},     {"le", "≤"},         {"leq", "≤"},
    {"ge", "≥"},         {"geq", "≥"},       {"ne", "≠"},         {"neq", "≠"},
    {"approx", "≈"},     {"sim", "∼"},       {"propto", "∝"},     {"to", "→"},
    {"mapsto", "↦"},     {"in", "∈"},        {"pm", "±"},         {"ll", "≪"},
    {"gg", "≫"},         {"langle", "⟨"},    {"rangle", "⟩"},     {"lVert", "‖"},
    {"rVert", "‖"},      {"Vert", "‖"},      {"mid", "|"},        {"vert", "|"},
    {"odot", "⊙"},       {"otimes", "⊗"},    {"circ", "∘"},       {"equiv", "≡"},
    {"Rightarrow", "⇒"}, {"leftarrow", "←"}, {"rightarrow", "→"}, {"longrightarrow", "⟶"},
    {"iff", "⇔"},        {"int", "∫"},       {"lbrace", "{"},     {"rbrace", "}"},
    {"prime", "′"},      {"ast", "∗"},       {"star", "⋆"}};

/// Operators whose bounds are written below and above them.
const std::map<std::string, std::string> with_bounds = {
    {"sum", "∑"},   {"prod", "∏"},         {"max", "max"},       {"min", "min"},
    {"lim", "lim"}, {"argmax", "arg max"}, {"argmin", "arg min"}};

const std::set<std::string> functions = {"ln",  "log", "exp",  "det", "tr",
                                         "sin", "cos", "tanh", "Pr",  "erf"};

const std::map<std::string, std::string> accents = {
    {"bar", "‾"}, {"hat", "^"},      {"tilde", "~"},  {"dot", "˙"},
    {"vec", "→"}, {"overline", "‾"}, {"widehat", "^"}};

const std::map<std::string, std::string> variants = {
    {"mathbb", "double-struck"}, {"mathcal", "script"}, {"mathbf", "bold"}, {"boldsymbol", "bold"}};

const std::map<std::string, std::string> spaces = {{"quad", "1em"}, {"qquad", "2em"}};

const std::set<std::string> sizes = {"big",  "Big",  "bigl",  "bigr",  "Bigl",         "Bigr",
                                     "bigg", "Bigg", "biggl", "biggr", "displaystyle", "textstyle"};

std::string tag(const std::string& name, const std::string& content,
                const std::string& attributes = "") {
  return "<" + name + attributes + ">" + content + "</" + name + ">";
}

/// Recursive-descent parser of TeX. A row is a list of items; an item is an atom with its
/// subscript and superscript.
class Formula {
 public:
  explicit Formula(const std::string& tex) : tex_(tex) {}

  std::string whole() {
    const std::string all = row("");
    if (at_ < tex_.size()) fail("an unmatched } or \\right");
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(detail::join("[mathml] ", what, " in: ", tex_));
  }

  void skip_spaces() {
    while (at_ < tex_.size() && std::isspace(static_cast<unsigned char>(tex_[at_]))) ++at_;
  }
  bool next_is(const std::string& text) {
    skip_spaces();
    return tex_.compare(at_, text.size(), text) == 0;
  }
  bool take(const std::string& text) {
    if (!next_is(text)) return false;
    at_ += text.size();
    return true;
  }

  /// Parses items up to `end`, which is consumed, or if `end` is empty up to the end of a cell or a
  /// group.
  std::string row(const std::string& end) {
    std::string all;
    for (;;) {
      skip_spaces();
      if (at_ == tex_.size()) break;
      if (next_is("}") || next_is("&") || next_is("\\cr") || next_is("\\end{") ||
          next_is("\\right"))
        break;
      all += item();
    }
    if (!end.empty() && !take(end)) fail("missing " + end);
    return all;
  }

  std::string group() {
    skip_spaces();
    if (take("{")) return tag("mrow", row("}"));
    if (at_ < tex_.size() && std::isdigit(static_cast<unsigned char>(tex_[at_])))
      return tag("mn", std::string(1, tex_[at_++]));  // \frac12 has one digit per argument
    return atom().text;
  }
  /// Reads an argument as raw text: the text between braces, or a single letter.
  std::string words() {
    skip_spaces();
    if (at_ < tex_.size() && std::isalnum(static_cast<unsigned char>(tex_[at_])))
      return std::string(1, tex_[at_++]);
    if (!take("{")) fail("a command needs an argument in braces, which is missing,");
    const std::size_t end = tex_.find('}', at_);
    if (end == std::string::npos) fail("missing }");
    const std::string text = tex_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  struct Atom {
    std::string text;
    bool bounds = false;
  };

  std::string item() {
    const Atom base = atom();
    std::string below, above;
    for (;;) {
      if (take("_"))
        below = group();
      else if (take("^"))
        above = group();
      else if (take("'"))
        above += tag("mo", "′");
      else
        break;
    }
    const bool both = !below.empty() && !above.empty();
    if (below.empty() && above.empty()) return base.text;
    const std::string name = base.bounds ? (both            ? "munderover"
                                            : below.empty() ? "mover"
                                                            : "munder")
                                         : (both            ? "msubsup"
                                            : below.empty() ? "msup"
                                                            : "msub");
    return tag(name, tag("mrow", base.text) + below + (above.empty() ? "" : tag("mrow", above)));
  }

  Atom atom() {
    skip_spaces();
    if (at_ == tex_.size()) fail("an argument is missing at the end");
    if (take("{")) return {tag("mrow", row("}"))};
    const char c = tex_[at_];
    if (c == '\\') return command();
    if (std::isdigit(static_cast<unsigned char>(c))) {
      std::size_t end = at_;
      while (end < tex_.size() && (std::isdigit(static_cast<unsigned char>(tex_[end])) ||
                                   (tex_[end] == '.' && end + 1 < tex_.size() &&
                                    std::isdigit(static_cast<unsigned char>(tex_[end + 1])))))
        ++end;
      const std::string number = tex_.substr(at_, end - at_);
      at_ = end;
      return {tag("mn", number)};
    }
    std::size_t length = 1;  // length of a UTF-8 character
    while (at_ + length < tex_.size() &&
           (static_cast<unsigned char>(tex_[at_ + length]) & 0xC0) == 0x80)
      ++length;
    const std::string text = tex_.substr(at_, length);
    at_ += length;
    if (length > 1 || std::isalpha(static_cast<unsigned char>(c))) return {tag("mi", text)};
    if (text == "-") return {tag("mo", "−")};
    if (text == "~") return {"<mspace width=\"0.25em\"/>"};
    return {tag("mo", escaped(text),
                std::string("()[]|").find(text) != std::string::npos ? " stretchy=\"false\"" : "")};
  }

  Atom command() {
    std::size_t end = ++at_;
    while (end < tex_.size() && std::isalpha(static_cast<unsigned char>(tex_[end]))) ++end;
    if (end == at_) ++end;  // \, and similar commands
    const std::string name = tex_.substr(at_, end - at_);
    at_ = end;
    if (letters.contains(name)) return {tag("mi", letters.at(name))};
    if (operators.contains(name)) return {tag("mo", operators.at(name), " stretchy=\"false\"")};
    if (with_bounds.contains(name)) return {tag("mo", with_bounds.at(name)), true};
    if (functions.contains(name)) return {tag("mi", name) + "<mspace width=\"0.17em\"/>"};
    if (spaces.contains(name)) return {"<mspace width=\"" + spaces.at(name) + "\"/>"};
    if (sizes.contains(name)) return {""};
    if (name == "frac" || name == "tfrac" || name == "dfrac") {
      const std::string above = group();
      return {tag("mfrac", above + group())};
    }
    if (name == "sqrt") return {tag("msqrt", group())};
    if (accents.contains(name))
      return {tag("mover", group() + tag("mo", accents.at(name)), " accent=\"true\"")};
    if (variants.contains(name))
      return {tag("mi", escaped(words()), " mathvariant=\"" + variants.at(name) + "\"")};
    if (name == "mathrm" || name == "operatorname" || name == "text" || name == "mathsf")
      return {tag(name == "text" ? "mtext" : "mi", escaped(words()), " mathvariant=\"normal\"")};
    if (name == "underbrace") return {tag("munder", group() + tag("mo", "⏟")), true};
    if (name == "left") return {fenced()};
    if (name == "begin") return {environment(words())};
    fail("the command \\" + name + " is not known");
  }

  /// A bracket after \left or \right; a point stands for no bracket.
  std::string bracket() {
    skip_spaces();
    if (take(".")) return "";
    if (next_is("\\")) return command().text;
    if (at_ == tex_.size()) fail("missing bracket after \\left or \\right");
    return tag("mo", std::string(1, tex_[at_++]), " stretchy=\"true\"");
  }
  std::string fenced() {
    const std::string left = bracket(), inside = row("\\right");
    return tag("mrow", left + inside + bracket());
  }

  std::string environment(const std::string& name) {
    std::string rows, cells = tag("mtd", row(""));
    while (!take("\\end{" + name + "}"))
      if (take("&"))
        cells += tag("mtd", row(""));
      else if (take("\\cr"))
        rows += tag("mtr", cells), cells = tag("mtd", row(""));
      else
        fail("missing \\end{" + name + "}");
    const std::string table = tag("mtable", rows + tag("mtr", cells));
    if (name == "aligned" || name == "matrix") return table;
    if (name == "cases") return tag("mrow", tag("mo", "{") + table);
    if (name == "pmatrix") return tag("mrow", tag("mo", "(") + table + tag("mo", ")"));
    if (name == "bmatrix") return tag("mrow", tag("mo", "[") + table + tag("mo", "]"));
    fail("the environment " + name + " is not known");
  }

  const std::string& tex_;
  std::size_t at_ = 0;
};

}  // namespace

std::string mathml(const std::string& tex, bool display) {
  return tag("math", tag("mrow", Formula(tex).whole()), display ? " display=\"block\"" : "");
}

}  // namespace ladon::lessons
