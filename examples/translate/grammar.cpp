#include "ladon/examples/translate/grammar.h"

#include <array>
#include <set>
#include <string>

#include "ladon/core/error.h"
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
constexpr std::array nouns = {Noun{"dog", "dogs", "Hund", "Hunde", masculine},
                              Noun{"man", "men", "Mann", "Männer", masculine},
                              Noun{"bird", "birds", "Vogel", "Vögel", masculine},
                              Noun{"king", "kings", "König", "Könige", masculine},
                              Noun{"cat", "cats", "Katze", "Katzen", feminine},
                              Noun{"woman", "women", "Frau", "Frauen", feminine},
                              Noun{"cow", "cows", "Kuh", "Kühe", feminine},
                              Noun{"queen", "queens", "Königin", "Königinnen", feminine},
                              Noun{"horse", "horses", "Pferd", "Pferde", neuter},
                              Noun{"child", "children", "Kind", "Kinder", neuter},
                              Noun{"girl", "girls", "Mädchen", "Mädchen", neuter},
                              Noun{"pig", "pigs", "Schwein", "Schweine", neuter}};

struct Adjective {
  const char *english, *stem;
};
constexpr std::array adjectives = {
    Adjective{"small", "klein"}, Adjective{"big", "groß"},        Adjective{"old", "alt"},
    Adjective{"young", "jung"},  Adjective{"white", "weiß"},      Adjective{"brown", "braun"},
    Adjective{"wild", "wild"},   Adjective{"beautiful", "schön"}, Adjective{"hungry", "hungrig"}};

/// Of one subject, of several, and the participle.
struct Verb {
  const char *one, *many, *done;            ///< English
  const char *single, *several, *finished;  ///< German
};
constexpr std::array verbs = {Verb{"sees", "see", "seen", "sieht", "sehen", "gesehen"},
                              Verb{"hears", "hear", "heard", "hört", "hören", "gehört"},
                              Verb{"seeks", "seek", "sought", "sucht", "suchen", "gesucht"},
                              Verb{"finds", "find", "found", "findet", "finden", "gefunden"},
                              Verb{"loves", "love", "loved", "liebt", "lieben", "geliebt"},
                              Verb{"paints", "paint", "painted", "malt", "malen", "gemalt"},
                              Verb{"greets", "greet", "greeted", "grüßt", "grüßen", "gegrüßt"},
                              Verb{"washes", "wash", "washed", "wäscht", "waschen", "gewaschen"},
                              Verb{"carries", "carry", "carried", "trägt", "tragen", "getragen"}};

/// What stands before a clause, and whether that is a clause of its own.
struct Opening {
  const char *english, *german;
  bool clause;
};
constexpr std::array openings = {Opening{"today", "heute", false},
                                 Opening{"now", "jetzt", false},
                                 Opening{"often", "oft", false},
                                 Opening{"we know that", "wir wissen, dass", true},
                                 Opening{"she says that", "sie sagt, dass", true},
                                 Opening{"they believe that", "sie glauben, dass", true}};

struct Phrase {
  std::string english, german;
  bool several;
};

std::int64_t below(Generator& rng, std::size_t n) {
  return static_cast<std::int64_t>(rng.uniform() * static_cast<double>(n));
}

template <class Words>
const auto& any_of(const Words& words, Generator& rng) {
  return words[static_cast<std::size_t>(below(rng, words.size()))];
}

/// The article, or the number two, in English and German, and the ending of an adjective after it.
std::array<std::string, 3> article(bool definite, Gender gender, Case as) {
  const bool changed = gender == masculine && as == accusative;  // the one that shows its case
  if (gender == plural)
    return definite ? std::array<std::string, 3>{"the", "die", "en"}
                    : std::array<std::string, 3>{"two", "zwei", "e"};
  if (definite)
    return {"the", changed ? "den" : std::array{"der", "die", "das"}[gender], changed ? "en" : "e"};
  return {"a", changed ? "einen" : std::array{"ein", "eine", "ein"}[gender],
          changed ? "en" : std::array{"er", "e", "es"}[gender]};
}

Phrase noun_phrase(Case as, Generator& rng) {
  const Noun& noun = any_of(nouns, rng);
  const bool several = rng.uniform() < 0.3, definite = rng.uniform() < 0.5;
  const auto [english, german, ending] = article(definite, several ? plural : noun.gender, as);
  Phrase phrase{english, german, several};
  if (rng.uniform() < 0.6) {
    const Adjective& adjective = any_of(adjectives, rng);
    phrase.english += join(' ', adjective.english);
    phrase.german += join(' ', adjective.stem, ending);
  }
  // "a old man" would be wrong
  if (phrase.english.starts_with("a o")) phrase.english.insert(1, "n");
  phrase.english += join(' ', several ? noun.many : noun.one);
  phrase.german += join(' ', several ? noun.several : noun.single);
  return phrase;
}

std::pair<std::string, std::string> sentence(Generator& rng) {
  const Phrase subject = noun_phrase(nominative, rng), object = noun_phrase(accusative, rng);
  const Verb& verb = any_of(verbs, rng);
  const bool done = rng.uniform() < 0.5, opens = rng.uniform() < 0.7;
  const Opening opening = opens ? any_of(openings, rng) : Opening{"", "", false};
  const char* has = subject.several ? "have" : "has";
  const std::string doing = done              ? join(has, ' ', verb.done)
                            : subject.several ? verb.many
                                              : verb.one;
  const std::string english =
      join(opening.english, opens ? " " : "", subject.english, ' ', doing, ' ', object.english);
  // The word that agrees with the subject, and what is left of the verb for the end.
  const std::string finite = done              ? (subject.several ? "haben" : "hat")
                             : subject.several ? verb.several
                                               : verb.single;
  const std::string rest = done ? join(' ', verb.finished) : "";
  std::string german;
  if (!opens)
    german = join(subject.german, ' ', finite, ' ', object.german, rest);
  else if (opening.clause)
    german = join(opening.german, ' ', subject.german, ' ', object.german, rest, ' ', finite);
  else
    german = join(opening.german, ' ', finite, ' ', subject.german, ' ', object.german, rest);
  return {english, german};
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
