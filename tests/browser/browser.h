#pragma once
// A browser without a window, driven through two pipes as its developer tools do: JSON messages,
// each ended by a zero byte, on its file descriptors 3 and 4 (Chrome DevTools Protocol).

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/tests/temporary_folder.h"

namespace ladon::test {

/// Window of a browser, and its reader's wishes.
struct Screen {
  int width = 1280, height = 720;
  bool dark = false, little_motion = false;
};

/// Position in a window, in pixels of CSS.
struct Point {
  double x, y;
};

/// Chromium with a profile of its own and one tab. Whatever it does not answer within 30 s, and
/// whatever it answers by an error, throws std::runtime_error with the method's name.
class Browser {
 public:
  explicit Browser(const std::string& program);
  ~Browser();  ///< Kills it.
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Path of Chromium: LADON_BROWSER, or what PATH has; empty if there is none.
  static std::string found();

  /// Loads a file, and forgets what was logged.
  void open(const std::filesystem::path& page, const Screen& screen = {});
  void show(const Screen& screen);  ///< What is loaded, on another screen.
  /// Value of a JavaScript expression, by way of JSON.
  nlohmann::json evaluate(const std::string& expression);
  /// Processor time of the page's own thread since its load.
  double processor_seconds();
  void save_screenshot(const std::filesystem::path& png);  ///< Of the whole page.

  void move_mouse(Point to);
  void click(Point at) { drag_mouse(at, at); }
  void drag_mouse(Point from, Point to);
  void tap(Point at) { drag_finger(at, at); }
  void drag_finger(Point from, Point to);
  void press(const std::string& key);  ///< Of a keyboard, by its name in KeyboardEvent.key.
  void type(const std::string& text);  ///< Into the field that has the focus.

  /// Whether it has died or was silent for too long: it is of no more use.
  bool failed() const { return failed_; }
  /// Errors and exceptions since open().
  const std::vector<std::string>& errors() const { return errors_; }
  /// Addresses asked for since open().
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
  int to_ = -1, from_ = -1;  ///< Ends of the pipes.
  std::string unread_;       ///< Bytes of a message that has not ended.
  std::string session_;      ///< Of the tab; empty before there is one.
  int calls_ = 0;
  bool loaded_ = false, failed_ = false;
  std::vector<std::string> errors_, requests_;
};

}  // namespace ladon::test
