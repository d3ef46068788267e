#pragma once
// Readers of labelled texts, from the files of classification data sets.
//
// Every reader takes files in UTF-8, or in Latin-1 if a file is not valid UTF-8, compressed by gzip
// or not, and returns UTF-8. Lines end in \n or \r\n; white space around a text is dropped. For a
// malformed line, readers throw Error naming path:line; for a file without texts, they throw Error
// naming the path.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ladon {

/// Texts with their classes: label i is an index into label_names.
struct TextDataset {
  std::vector<std::string> texts;
  std::vector<std::int64_t> labels;
  std::vector<std::string> label_names;
};

/// Reads the question format of TREC: a line is `COARSE:fine words …`; the coarse class is the
/// label.
///
/// Here and in the other readers, if label_names is empty, the label names are those that occur in
/// the file, sorted. When reading a test set, pass the label names of the training set, so that
/// indices agree. Throws Error for a label that is not in a non-empty label_names.
TextDataset read_trec(const std::string& path, const std::vector<std::string>& label_names = {});

/// Reads one sentence per line, one file per class: texts of paths[i] have label i. Blank lines are
/// skipped. If label_names is empty, the label names are the files' names; if not, throws Error
/// unless it has one name per path.
TextDataset read_lines(const std::vector<std::string>& paths,
                       const std::vector<std::string>& label_names = {});

/// The whole text of a file, with white space and line ends as they are. It may be empty.
std::string read_text(const std::string& path);

/// Corresponding lines of two files: sentences and their translations.
struct ParallelText {
  std::vector<std::string> sources, targets;  ///< of equal length
  std::int64_t blank = 0;                     ///< pairs left out because a line is blank
};

/// Reads corresponding lines. Throws Error naming both files unless they have the same number of
/// lines.
ParallelText read_parallel(const std::string& sources, const std::string& targets);

/// Columns of the label and the text in a file of separated columns, counted from zero; all other
/// columns are ignored. Examples:
///   {}                                       `label<TAB>text`
///   {.label_column = 1, .text_column = 0}    `text<TAB>label`
///   {.columns = 4, .text_column = 3}         `label<TAB>…<TAB>…<TAB>text`
///   {.separator = ' '}                       `label words …`
struct TsvColumns {
  char separator = '\t';
  int columns = 2;  ///< separators beyond columns − 1 belong to the text
  int label_column = 0;
  int text_column = 1;
};

/// Reads a file of separated columns. Throws Error also unless label_column and text_column are
/// distinct and within [0, columns).
TextDataset read_tsv(const std::string& path, const TsvColumns& columns = {},
                     const std::vector<std::string>& label_names = {});

/// Guesses the columns of a file for read_tsv(). If its first line has no tab, lines are `label
/// words …`. If it has, the file has as many columns as the line with the fewest tabs; the text is
/// the column that is longest on average, and the label is the column with the fewest distinct
/// values among the others (on a tie, the first).
TsvColumns guess_columns(const std::string& path);

/// The tokens of a text, in lower case (ASCII letters only): words of letters, digits and any bytes
/// beyond ASCII, joined by hyphens or apostrophes within ("well-known", "o'neill") and by points or
/// commas between digits ("3.5", "1,000"); English contractions are split off as in the Penn
/// Treebank ("do n't", "it 's"); a run of one of . ' ` - is one token ("...", "''", "``", "--");
/// every other punctuation character is a token. So text that is tokenized already does not change,
/// except for brackets that are written as "-lrb-".
std::vector<std::string> tokenize(std::string_view text);

}  // namespace ladon
