#pragma once
// A browser without a visible window, controlled by the Chrome DevTools Protocol through two pipes:
// JSON messages, each ended by a zero byte, on the browser's file descriptors 3 and 4.

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/tests/temporary_folder.h"

namespace ladon::test {

/// Size of a browser's window, and the reader's preferences: dark colours, little motion.
struct Screen {
  int width = 1280, height = 720;
  bool dark = false, little_motion = false;
};

/// Position in a window, in CSS pixels.
struct Point {
  double x, y;
};

/// A process of Chromium with its own profile and one tab. Functions throw std::runtime_error, with
/// the protocol's name of the method, if Chromium does not answer within 30 s or answers with an
/// error.
class Browser {
 public:
  explicit Browser(const std::string& program);
  ~Browser();  ///< Kills the process.
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Path of Chromium: the variable LADON_BROWSER, or the program found in PATH; empty if there is
  /// none.
  static std::string found();

  /// Loads a file, and clears errors() and requests().
  void open(const std::filesystem::path& page, const Screen& screen = {});
  void show(const Screen& screen);  ///< Shows the loaded page on another screen.
  /// Value of a JavaScript expression, converted by JSON.
  nlohmann::json evaluate(const std::string& expression);
  /// Processor time of the page's main thread since the page was loaded.
  double processor_seconds();
  void save_screenshot(const std::filesystem::path& png);  ///< Picture of the whole page.

  void move_mouse(Point to);
  void click(Point at) { drag_mouse(at, at); }
  void drag_mouse(Point from, Point to);
  void tap(Point at) { drag_finger(at, at); }
  void drag_finger(Point from, Point to);
  void press(const std::string& key);  ///< Presses a key, named as in KeyboardEvent.key.
  void type(const std::string& text);  ///< Types into the field that has the focus.

  /// Whether the process has died or did not answer in time; it can no longer be used.
  bool failed() const { return failed_; }
  /// JavaScript errors and exceptions since open().
  const std::vector<std::string>& errors() const { return errors_; }
  /// Addresses that the page requested since open().
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  nlohmann::json call(const std::string& method, nlohmann::json parameters = {});
  nlohmann::json next_message(const std::string& waiting_for);
  void note(const nlohmann::json& event);
  [[noreturn]] void fail(const std::string& why);
  void mouse(const char* type, Point at);
  void finger(const char* type, const nlohmann::json& points);

  TemporaryFolder profile_;
  pid_t process_ = 0;
  int to_ = -1, from_ = -1;  ///< This process's ends of the pipes.
  std::string unread_;       ///< Bytes of an incomplete message.
  std::string session_;      ///< Session of the tab; empty before there is a tab.
  int calls_ = 0;
  bool loaded_ = false, failed_ = false;
  std::vector<std::string> errors_, requests_;
};

}  // namespace ladon::test
