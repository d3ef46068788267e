#include "ladon/tests/browser/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ladon::test {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds patience{30};

/// The child's part: descriptors 3 and 4 in place of the pipes' ends, then Chromium.
[[noreturn]] void become_browser(const std::string& program, const std::string& profile, int reads,
                                 int writes) {
  setpgid(0, 0);                     // killed as a group
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // and with the test
  // The ends may be 3 or 4 themselves: they are moved out of the way first.
  const int in = fcntl(reads, F_DUPFD_CLOEXEC, 10), out = fcntl(writes, F_DUPFD_CLOEXEC, 10);
  dup2(in, 3);
  dup2(out, 4);
  const int silent = open("/dev/null", O_RDWR);
  dup2(silent, 1);
  dup2(silent, 2);
  const std::string own = "--user-data-dir=" + profile;
  execl(program.c_str(), program.c_str(), "--headless", "--remote-debugging-pipe", own.c_str(),
        "--no-sandbox",             // which a container's root cannot have
        "--disable-dev-shm-usage",  // containers have little of it
        "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
        "--disable-component-update", "--disable-extensions", "--disable-breakpad",
        "--force-color-profile=srgb", "about:blank", nullptr);
  _exit(127);
}

/// Bytes of base64, as screenshots arrive.
std::string decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos) break;  // = fills up the end
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// A key as Input.dispatchKeyEvent wants it.
json key_event(const std::string& key) {
  static const std::map<std::string, int> codes = {
      {"Tab", 9},        {"Enter", 13},   {" ", 32},          {"End", 35},      {"Home", 36},
      {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39}, {"ArrowDown", 40}};
  json event = {
      {"key", key}, {"code", key == " " ? "Space" : key}, {"windowsVirtualKeyCode", codes.at(key)}};
  if (key == " ") event["text"] = " ";
  if (key == "Enter") event["text"] = "\r";
  return event;
}

}  // namespace

std::string Browser::found() {
  if (const char* named = std::getenv("LADON_BROWSER")) return named;
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0)
        return file;
  }
  return "";
}

Browser::Browser(const std::string& program) {
  std::signal(SIGPIPE, SIG_IGN);  // a browser that has died is an error of call()
  std::array<int, 2> commands{}, answers{};
  if (pipe2(commands.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("cannot make pipes to a browser");
  process_ = fork();
  if (process_ == 0) become_browser(program, profile_.path().string(), commands[0], answers[1]);
  close(commands[0]);
  close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
  const json tab = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", tab.at("targetId")}, {"flatten", true}})
                 .at("sessionId")
                 .get<std::string>();
  for (const char* domain : {"Page", "Runtime", "Log", "Network"})
    call(std::string(domain) + ".enable");
  call("Performance.enable", {{"timeDomain", "threadTicks"}});
  call("Emulation.setFocusEmulationEnabled", {{"enabled", true}});
  call("Emulation.setTouchEmulationEnabled", {{"enabled", true}});
}

Browser::~Browser() {
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  close(to_);
  close(from_);
}

// --- messages ---

json Browser::call(const std::string& method, json parameters) {
  const int id = ++calls_;
  json message = {{"id", id}, {"method", method}};
  if (!parameters.is_null()) message["params"] = std::move(parameters);
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string bytes = message.dump() + '\0';
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = write(to_, bytes.data() + sent, bytes.size() - sent);
    if (n < 0) fail(method + ": the browser has died");
    sent += static_cast<std::size_t>(n);
  }
  while (true) {
    const json answer = next_message(method);
    if (answer.value("id", 0) != id) continue;
    if (answer.contains("error"))
      throw std::runtime_error(method + ": " + answer.at("error").dump());
    return answer.at("result");
  }
}

json Browser::next_message(const std::string& waiting_for) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::size_t length = 0;
  while ((length = unread_.find('\0')) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd readable{from_, POLLIN, 0};
    if (left.count() <= 0 || poll(&readable, 1, static_cast<int>(left.count())) == 0)
      fail(waiting_for + ": no answer of the browser in 30 s");
    std::array<char, 65536> bytes{};
    const ssize_t n = read(from_, bytes.data(), bytes.size());
    if (n <= 0) fail(waiting_for + ": the browser has died");
    unread_.append(bytes.data(), static_cast<std::size_t>(n));
  }
  json message = json::parse(unread_.substr(0, length));
  unread_.erase(0, length + 1);
  if (message.contains("method")) note(message);
  return message;
}

void Browser::fail(const std::string& why) {
  failed_ = true;
  throw std::runtime_error(why);
}

void Browser::note(const json& event) {
  const std::string method = event.at("method");
  const json& of = event.at("params");
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Network.requestWillBeSent") requests_.push_back(of.at("request").at("url"));
  if (method == "Runtime.exceptionThrown") errors_.push_back(of.at("exceptionDetails").dump());
  if (method == "Log.entryAdded") errors_.push_back(of.at("entry").dump());
  if (method == "Runtime.consoleAPICalled") errors_.push_back(of.dump());
}

// --- pages ---

void Browser::show(const Screen& screen) {
  call("Emulation.setDeviceMetricsOverride", {{"width", screen.width},
                                              {"height", screen.height},
                                              {"deviceScaleFactor", 1},
                                              {"mobile", screen.width < 600}});
  const json scheme = {{"name", "prefers-color-scheme"}, {"value", screen.dark ? "dark" : "light"}};
  const json motion = {{"name", "prefers-reduced-motion"},
                       {"value", screen.little_motion ? "reduce" : "no-preference"}};
  call("Emulation.setEmulatedMedia", {{"features", json::array({scheme, motion})}});
}

void Browser::open(const std::filesystem::path& page, const Screen& screen) {
  show(screen);
  errors_.clear();
  requests_.clear();
  loaded_ = false;
  call("Page.navigate", {{"url", "file://" + page.string()}});
  while (!loaded_) next_message("Page.loadEventFired");
}

json Browser::evaluate(const std::string& expression) {
  const json answer =
      call("Runtime.evaluate",
           {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error(expression.substr(0, 200) + ": " +
                             answer.at("exceptionDetails").dump());
  return answer.at("result").value("value", json());
}

double Browser::processor_seconds() {
  const json answer = call("Performance.getMetrics");
  for (const json& metric : answer.at("metrics"))
    if (metric.at("name") == "TaskDuration") return metric.at("value");
  fail("Performance.getMetrics: there is no TaskDuration");
}

void Browser::save_screenshot(const std::filesystem::path& png) {
  const json answer = call("Page.captureScreenshot", {{"captureBeyondViewport", true}});
  std::ofstream(png, std::ios::binary) << decoded(answer.at("data"));
}

// --- hands ---

void Browser::mouse(const char* type, Point at) {
  const bool moves = std::string(type) == "mouseMoved";
  call("Input.dispatchMouseEvent", {{"type", type},
                                    {"x", at.x},
                                    {"y", at.y},
                                    {"button", moves ? "none" : "left"},
                                    {"clickCount", moves ? 0 : 1}});
}

void Browser::move_mouse(Point to) { mouse("mouseMoved", to); }

void Browser::drag_mouse(Point from, Point to) {
  mouse("mouseMoved", from);
  mouse("mousePressed", from);
  call("Input.dispatchMouseEvent",
       {{"type", "mouseMoved"}, {"x", to.x}, {"y", to.y}, {"button", "left"}, {"buttons", 1}});
  mouse("mouseReleased", to);
}

void Browser::finger(const char* type, const json& points) {
  call("Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", points}});
}

void Browser::drag_finger(Point from, Point to) {
  finger("touchStart", json::array({{{"x", from.x}, {"y", from.y}}}));
  if (from.x != to.x || from.y != to.y)
    finger("touchMove", json::array({{{"x", to.x}, {"y", to.y}}}));
  finger("touchEnd", json::array());
}

void Browser::press(const std::string& key) {
  json event = key_event(key);
  event["type"] = event.contains("text") ? "keyDown" : "rawKeyDown";
  call("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  call("Input.dispatchKeyEvent", event);
}

void Browser::type(const std::string& text) { call("Input.insertText", {{"text", text}}); }

}  // namespace ladon::test
