#include "ladon/examples/word_for_word/grammar.h"

#include <array>
#include <initializer_list>
#include <set>
#include <string>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

enum Gender { masculine, feminine, neuter, plural };
enum Case { nominative, accusative };

struct Noun {
  const char *one, *many;        ///< English
  const char *single, *several;  ///< German
  Gender gender;
};
constexpr Noun nouns[] = {{"dog", "dogs", "Hund", "Hunde", masculine},
                          {"man", "men", "Mann", "Männer", masculine},
                          {"bird", "birds", "Vogel", "Vögel", masculine},
                          {"king", "kings", "König", "Könige", masculine},
                          {"cat", "cats", "Katze", "Katzen", feminine},
                          {"woman", "women", "Frau", "Frauen", feminine},
                          {"cow", "cows", "Kuh", "Kühe", feminine},
                          {"queen", "queens", "Königin", "Königinnen", feminine},
                          {"horse", "horses", "Pferd", "Pferde", neuter},
                          {"child", "children", "Kind", "Kinder", neuter},
                          {"girl", "girls", "Mädchen", "Mädchen", neuter},
                          {"pig", "pigs", "Schwein", "Schweine", neuter}};

struct Adjective {
  const char *english, *stem;
};
constexpr Adjective adjectives[] = {
    {"small", "klein"}, {"big", "groß"},        {"old", "alt"},
    {"young", "jung"},  {"white", "weiß"},      {"brown", "braun"},
    {"wild", "wild"},   {"beautiful", "schön"}, {"hungry", "hungrig"}};

/// Forms for a singular subject and a plural one, and the participle.
struct Verb {
  const char *one, *many, *done;            ///< English
  const char *single, *several, *finished;  ///< German
};
constexpr Verb verbs[] = {{"sees", "see", "seen", "sieht", "sehen", "gesehen"},
                          {"hears", "hear", "heard", "hört", "hören", "gehört"},
                          {"seeks", "seek", "sought", "sucht", "suchen", "gesucht"},
                          {"finds", "find", "found", "findet", "finden", "gefunden"},
                          {"loves", "love", "loved", "liebt", "lieben", "geliebt"},
                          {"paints", "paint", "painted", "malt", "malen", "gemalt"},
                          {"greets", "greet", "greeted", "grüßt", "grüßen", "gegrüßt"},
                          {"washes", "wash", "washed", "wäscht", "waschen", "gewaschen"},
                          {"carries", "carry", "carried", "trägt", "tragen", "getragen"}};

/// Opening of a sentence: an adverb or, if `clause`, a main clause with "that".
struct Opening {
  const char *english, *german;
  bool clause;
};
constexpr Opening openings[] = {{"today", "heute", false},
                                {"now", "jetzt", false},
                                {"often", "oft", false},
                                {"we know that", "wir wissen, dass", true},
                                {"she says that", "sie sagt, dass", true},
                                {"they believe that", "sie glauben, dass", true}};

struct Phrase {
  std::string english, german;
  bool several;
};

template <class Words>
const auto& any_of(const Words& words, Generator& rng) {
  return words[static_cast<std::size_t>(rng.uniform() * static_cast<double>(std::size(words)))];
}

/// The article, or the number two, in English and German, and the ending of an adjective after it.
std::array<std::string, 3> article(bool definite, Gender gender, Case as) {
  const bool changed = gender == masculine && as == accusative;  // only masculine shows its case
  if (gender == plural)
    return definite ? std::array<std::string, 3>{"the", "die", "en"}
                    : std::array<std::string, 3>{"two", "zwei", "e"};
  if (definite)
    return {"the", changed ? "den" : std::array{"der", "die", "das"}[gender], changed ? "en" : "e"};
  return {"a", changed ? "einen" : std::array{"ein", "eine", "ein"}[gender],
          changed ? "en" : std::array{"er", "e", "es"}[gender]};
}

/// The words separated by blanks, without empty ones.
std::string spaced(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() || word.empty() ? "" : " ") + word;
  return text;
}

Phrase noun_phrase(Case as, Generator& rng) {
  const Noun& noun = any_of(nouns, rng);
  const bool several = rng.uniform() < 0.3, definite = rng.uniform() < 0.5;
  const auto [english, german, ending] = article(definite, several ? plural : noun.gender, as);
  const bool described = rng.uniform() < 0.6;
  const Adjective adjective = described ? any_of(adjectives, rng) : Adjective{"", ""};
  Phrase phrase{spaced({english, adjective.english, several ? noun.many : noun.one}),
                spaced({german, described ? adjective.stem + ending : "",
                        several ? noun.several : noun.single}),
                several};
  if (phrase.english.starts_with("a o")) phrase.english.insert(1, 1, 'n');  // "an old man"
  return phrase;
}

std::pair<std::string, std::string> sentence(Generator& rng) {
  const Phrase subject = noun_phrase(nominative, rng), object = noun_phrase(accusative, rng);
  const Verb& verb = any_of(verbs, rng);
  const bool done = rng.uniform() < 0.5, opens = rng.uniform() < 0.7, several = subject.several;
  const Opening opening = opens ? any_of(openings, rng) : Opening{"", "", false};
  const std::string doing = done      ? join(several ? "have " : "has ", verb.done)
                            : several ? verb.many
                                      : verb.one;
  // The finite verb, which agrees with the subject, and the remainder for the end of the clause.
  const std::string finite = done      ? (several ? "haben" : "hat")
                             : several ? verb.several
                                       : verb.single;
  const std::string rest = done ? verb.finished : "";
  const std::string english = spaced({opening.english, subject.english, doing, object.english});
  if (opening.clause)
    return {english, spaced({opening.german, subject.german, object.german, rest, finite})};
  if (opens)
    return {english, spaced({opening.german, finite, subject.german, object.german, rest})};
  return {english, spaced({subject.german, finite, object.german, rest})};
}

}  // namespace

ParallelText grammar_pairs(std::int64_t count, Generator& rng) {
  ParallelText pairs;
  std::set<std::string> seen;
  while (static_cast<std::int64_t>(pairs.sources.size()) < count) {
    auto [english, german] = sentence(rng);
    if (!seen.insert(english).second) continue;
    pairs.sources.push_back(std::move(english));
    pairs.targets.push_back(std::move(german));
  }
  return pairs;
}

}  // namespace ladon::example
