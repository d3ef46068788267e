#pragma once
// Readers of labelled texts, from the files of classification data sets.
//
// Every reader takes UTF-8, or Latin-1 where a file is not valid UTF-8, compressed by gzip or not,
// and returns UTF-8; lines end in \n or \r\n; white space around a text is dropped. A malformed
// line throws Error naming path:line, a file without texts one naming the path.

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

/// The question format of TREC: a line is `COARSE:fine words …`; the coarse class is the label.
///
/// Here and in the other readers, label_names left empty means the names that occur, sorted; give
/// the training set's when reading a test set, so that indices agree. A name outside them is an
/// Error.
TextDataset read_trec(const std::string& path, const std::vector<std::string>& label_names = {});

/// One sentence per line, one file per class: label i belongs to paths[i]. Blank lines are skipped.
/// If label_names is empty, these are the files' names; otherwise one name per path (else Error).
TextDataset read_lines(const std::vector<std::string>& paths,
                       const std::vector<std::string>& label_names = {});

/// The whole text of a file, with white space and line ends as they are. It may be empty.
std::string read_text(const std::string& path);

/// Corresponding lines of two files: sentences and their translations.
struct ParallelText {
  std::vector<std::string> sources, targets;  ///< of equal length
  std::int64_t blank = 0;                     ///< pairs that were left out, as one line is blank
};

/// Throws Error naming both files unless they have the same number of lines.
ParallelText read_parallel(const std::string& sources, const std::string& targets);

/// Columns of a label-TSV file. They count from zero; others are ignored.
///   {}                                       label<TAB>text
///   {.label_column = 1, .text_column = 0}    text<TAB>label
///   {.columns = 4, .text_column = 3}         label<TAB>…<TAB>…<TAB>text
///   {.separator = ' '}                       label words …
struct TsvColumns {
  char separator = '\t';
  int columns = 2;  ///< separators beyond columns − 1 belong to the text
  int label_column = 0;
  int text_column = 1;
};

/// Throws Error, besides the above, unless the two columns are distinct and within [0, columns).
TextDataset read_tsv(const std::string& path, const TsvColumns& columns = {},
                     const std::vector<std::string>& label_names = {});

/// Finds the columns of a label-TSV file by itself. Without tabs in its first line, the file is
/// `label words …`. Otherwise it has as many columns as the line with fewest tabs; the text is the
/// longest column on average; the label is that of the other columns with the fewest distinct
/// values (the first of them on a tie).
TsvColumns guess_columns(const std::string& path);

/// The tokens of a text, in lower case (ASCII letters only): words of letters, digits and any bytes
/// beyond ASCII, joined by hyphens or apostrophes within ("well-known", "o'neill") and by points or
/// commas between digits ("3.5", "1,000"); English contractions are split off as in the Penn
/// Treebank ("do n't", "it 's"); a run of one of . ' ` - is one token ("...", "''", "``", "--");
/// every other punctuation character is a token. So text that is already tokenized stays as it is,
/// except for brackets written "-lrb-".
std::vector<std::string> tokenize(std::string_view text);

}  // namespace ladon
