#include "ladon/core/extra/text/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

constexpr std::string_view spaces = " \t\r\n\v\f";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

// Calls line(number, text) for every line, counting from 1.
template <class F>
void for_each_line(std::string_view text, F line) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    if (content.ends_with('\r')) content.remove_suffix(1);
    line(number, content);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string read_some_text(std::string_view operation, const std::string& path) {
  std::string text = read_text(path);
  LADON_CHECK(!trim(text).empty(), operation, path, ": the file holds no text; it is ", text.size(),
              " bytes long");
  return text;
}

// Collects pairs of a label and a text, and converts label names to indices.
class Collector {
 public:
  Collector(std::string_view operation, const std::string& path,
            const std::vector<std::string>& label_names)
      : operation_(operation), path_(path), fixed_(!label_names.empty()) {
    data_.label_names = label_names;
    for (std::size_t i = 0; i < label_names.size(); ++i) {
      const bool fresh = index_.emplace(label_names[i], static_cast<std::int64_t>(i)).second;
      LADON_CHECK(fresh, operation, "the label name '", label_names[i],
                  "' occurs twice in label_names");
    }
  }

  void add(std::int64_t line, std::string_view label, std::string_view text) {
    LADON_CHECK(!label.empty(), operation_, path_, ":", line, ": the label is empty");
    const std::string name(label);
    LADON_CHECK(!fixed_ || index_.count(name) == 1, operation_, path_, ":", line, ": the label '",
                name, "' is not one of the ", data_.label_names.size(), " label names: ", known());
    index_.emplace(name, 0);
    labels_.push_back(name);
    data_.texts.emplace_back(trim(text));
  }

  TextDataset finish() {
    if (!fixed_) {
      for (auto& [name, index] : index_) {
        index = static_cast<std::int64_t>(data_.label_names.size());
        data_.label_names.push_back(name);
      }
    }
    for (const std::string& label : labels_) data_.labels.push_back(index_.at(label));
    return std::move(data_);
  }

 private:
  std::string known() const {
    std::string names;
    for (const std::string& name : data_.label_names) {
      if (names.size() > 200) return names + " …";
      names += (names.empty() ? "" : ", ") + name;
    }
    return names;
  }

  std::string_view operation_;
  const std::string& path_;
  bool fixed_;
  std::map<std::string, std::int64_t> index_;
  std::vector<std::string> labels_;
  TextDataset data_;
};

// The fields of a line. Separators beyond the first columns − 1 belong to the text. Returns fewer
// fields if the line has too few separators.
std::vector<std::string_view> split(std::string_view line, const TsvColumns& columns) {
  std::vector<std::string_view> fields;
  const auto separators = std::count(line.begin(), line.end(), columns.separator);
  const std::int64_t surplus = std::max<std::int64_t>(0, separators - (columns.columns - 1));
  std::size_t start = 0;
  for (int column = 0; start <= line.size() && column < columns.columns; ++column) {
    std::size_t end = std::min(line.find(columns.separator, start), line.size());
    if (column == columns.text_column) {
      for (std::int64_t i = 0; i < surplus; ++i)
        end = std::min(line.find(columns.separator, end + 1), line.size());
    }
    fields.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  return fields;
}

}  // namespace

TextDataset read_trec(const std::string& path, const std::vector<std::string>& label_names) {
  const std::string content = read_some_text("read_trec", path);
  Collector collector("read_trec", path, label_names);
  for_each_line(content, [&](std::int64_t number, std::string_view line) {
    const std::size_t space = line.find(' ');
    const std::size_t colon = line.substr(0, space).find(':');
    LADON_CHECK(colon != std::string_view::npos && space != std::string_view::npos, "read_trec",
                path, ":", number, ": needs 'COARSE:fine words …', got '", line.substr(0, 40), "'");
    collector.add(number, line.substr(0, colon), line.substr(space));
  });
  return collector.finish();
}

TextDataset read_lines(const std::vector<std::string>& paths,
                       const std::vector<std::string>& label_names) {
  LADON_CHECK(!paths.empty(), "read_lines", "needs at least one file");
  LADON_CHECK(label_names.empty() || label_names.size() == paths.size(), "read_lines", "got ",
              paths.size(), " files but ", label_names.size(),
              " label names; each file is one class and needs one name");
  TextDataset data;
  data.label_names = label_names;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (label_names.empty())
      data.label_names.push_back(std::filesystem::path(paths[i]).filename().string());
    const std::string content = read_some_text("read_lines", paths[i]);
    for_each_line(content, [&](std::int64_t, std::string_view line) {
      if (trim(line).empty()) return;
      data.texts.emplace_back(trim(line));
      data.labels.push_back(static_cast<std::int64_t>(i));
    });
  }
  return data;
}

TextDataset read_tsv(const std::string& path, const TsvColumns& columns,
                     const std::vector<std::string>& label_names) {
  const auto inside = [&](int column) { return column >= 0 && column < columns.columns; };
  LADON_CHECK(inside(columns.label_column) && inside(columns.text_column) &&
                  columns.label_column != columns.text_column,
              "read_tsv", "label column ", columns.label_column, " and text column ",
              columns.text_column, " must be distinct and within the ", columns.columns,
              " columns");
  const std::string content = read_some_text("read_tsv", path);
  Collector collector("read_tsv", path, label_names);
  for_each_line(content, [&](std::int64_t number, std::string_view line) {
    const auto fields = split(line, columns);
    LADON_CHECK(fields.size() == static_cast<std::size_t>(columns.columns), "read_tsv", path, ":",
                number, ": has ", fields.size(), " column", fields.size() == 1 ? "" : "s",
                ", needs ", columns.columns, "; the line is '", line.substr(0, 40), "'");
    collector.add(number, trim(fields[columns.label_column]), fields[columns.text_column]);
  });
  return collector.finish();
}

std::string read_text(const std::string& path) { return to_utf8(read_maybe_gzip(path)); }

ParallelText read_parallel(const std::string& sources, const std::string& targets) {
  const auto lines = [](const std::string& path) {
    std::vector<std::string> list;
    for_each_line(read_some_text("read_parallel", path),
                  [&](std::int64_t, std::string_view line) { list.emplace_back(trim(line)); });
    return list;
  };
  std::vector<std::string> source = lines(sources), target = lines(targets);
  LADON_CHECK(source.size() == target.size(), "read_parallel", sources, " has ", source.size(),
              " lines, but must have as many as ", targets, ", which has ", target.size());
  ParallelText pairs;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i].empty() || target[i].empty()) {
      ++pairs.blank;
      continue;
    }
    pairs.sources.push_back(std::move(source[i]));
    pairs.targets.push_back(std::move(target[i]));
  }
  return pairs;
}

TsvColumns guess_columns(const std::string& path) {
  const std::string content = read_some_text("guess_columns", path);
  if (content.substr(0, content.find('\n')).find('\t') == std::string::npos)
    return {.separator = ' '};
  std::vector<std::vector<std::string_view>> lines;
  std::size_t columns = content.size();
  for_each_line(content, [&](std::int64_t number, std::string_view line) {
    const auto tabs = static_cast<int>(std::count(line.begin(), line.end(), '\t'));
    LADON_CHECK(tabs > 0, "guess_columns", path, ":", number, ": has no tab, unlike line 1");
    lines.push_back(split(line, {.columns = tabs + 1}));
    columns = std::min(columns, lines.back().size());
  });
  std::vector<std::size_t> length(columns), distinct(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    std::set<std::string_view> values;
    for (const auto& fields : lines) {
      length[i] += fields[i].size();
      values.insert(fields[i]);
    }
    distinct[i] = values.size();
  }
  const auto text = std::max_element(length.begin(), length.end()) - length.begin();
  distinct[text] = lines.size() + 1;  // the column of the text cannot also be that of the label
  const auto label = std::min_element(distinct.begin(), distinct.end()) - distinct.begin();
  return {.columns = static_cast<int>(columns),
          .label_column = static_cast<int>(label),
          .text_column = static_cast<int>(text)};
}

}  // namespace ladon
