#include "ladon/core/io/file.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "ladon/core/extra/data/images.h"
#include "ladon/core/extra/io/idx.h"
#include "ladon/core/extra/io/npy.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/io/utf8.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::file_test {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::TemporaryFolder;

std::int64_t entries(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

TEST(File, WritesWhatIsReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  for (const std::string& bytes : {std::string("old"), std::string(), std::string(100'000, '\0')}) {
    write_atomically(path, bytes);
    EXPECT_EQ(read_file(path), bytes);
  }
  EXPECT_EQ(entries(folder), 1) << "a temporary file was left";
}

TEST(File, AnInterruptedWriteKeepsTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_atomically(path, "old");
  const auto interrupted = [](OutputFile& file) {
    file.write("half of the new");
    throw std::runtime_error("interrupted");
  };
  EXPECT_THROW(write_atomically(path, interrupted), std::runtime_error);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THROW(write_atomically(folder / "fresh", interrupted), std::runtime_error);
  EXPECT_FALSE(fs::exists(folder / "fresh"));
  EXPECT_EQ(entries(folder), 1) << "a temporary file was left";
}

// A limit on the size of files stands for a full disk: the system refuses the write half-way.
TEST(File, AWriteThatTheSystemRefusesKeepsTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_atomically(path, "old");
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {1000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error([&] { write_atomically(path, std::string(5000, 'x')); },
               path + ": cannot write: File too large");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder), 1) << "a temporary file was left";
}

TEST(File, TheOldFileIsWholeWhileTheNewOneIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_atomically(path, "old");
  write_atomically(path, [&](OutputFile& file) {
    file.write("new");
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(entries(folder), 2) << "the new file must stand beside the old one";
  });
  EXPECT_EQ(read_file(path), "new");
}

TEST(File, KeepsPermissionsAndFollowsLinks) {
  const TemporaryFolder folder;
  const std::string path = folder / "a", link = folder / "link";
  write_atomically(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", link);
  write_atomically(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(File, FollowsLinksToWhatIsNotThereYet) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "deep");
  fs::create_symlink("real", folder / "direct");
  fs::create_symlink("deep/second", folder / "first");
  fs::create_symlink("../third", folder / "deep/second");
  fs::create_symlink(folder / "fourth", folder / "third");  // absolute
  for (const auto& [link, real] : {std::pair("direct", "real"), std::pair("first", "fourth")}) {
    write_atomically(folder / link, "new");
    EXPECT_TRUE(fs::is_symlink(folder / link));
    ASSERT_TRUE(fs::is_regular_file(fs::symlink_status(folder / real))) << real;
    EXPECT_EQ(read_file(folder / real), "new");
  }
  EXPECT_TRUE(fs::is_symlink(folder / "deep/second") && fs::is_symlink(folder / "third"));
}

TEST(File, RefusesLinksThatLeadNowhere) {
  const TemporaryFolder folder;
  const std::string link = folder / "link", loop = folder / "loop";
  fs::create_symlink("unmounted/disk/a", link);
  fs::create_symlink("pool", loop);
  fs::create_symlink("loop", folder / "pool");
  expect_error([&] { write_atomically(link, "x"); },
               link + " (a link to " + (folder / "unmounted/disk/a").native() +
                   "): cannot write in its folder: No such file or directory");
  expect_error([&] { write_atomically(loop, "x"); },
               loop + ": cannot follow the link: Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(link) && fs::is_symlink(loop));
  EXPECT_EQ(entries(folder), 3);

  const int nameless = memfd_create("file", MFD_CLOEXEC);
  const std::string path = detail::join("/proc/self/fd/", nameless);
  expect_error([&] { write_atomically(path, "x"); },
               path + ": cannot follow the link: its file was deleted and has no name");
  close(nameless);
}

/// Runs `action` in a child process and returns how that ended.
int status_of_child(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void die_while_writing(const std::string& path) {
  const int status = status_of_child([&] {
    write_atomically(path, [](OutputFile& file) {
      file.write("half");
      kill(getpid(), SIGKILL);
    });
  });
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(File, TheNextWriteRemovesTemporariesOfTheDead) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", "old");
  die_while_writing(folder / "a");
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(entries(folder), 2) << "the test needs what a killed process leaves";
  std::ofstream(folder / ".ladon-1-0.tmp");  // the number of a process that lives
  write_atomically(folder / "b", "new");
  EXPECT_EQ(entries(folder), 2) << "only a and b";
  EXPECT_EQ(read_file(folder / "a"), "old");
}

TEST(File, AsManyWritesAsThereAreFilesRemoveTemporariesOfTheDead) {
  const TemporaryFolder folder;
  constexpr int files = 20;
  for (int i = 0; i < files; ++i) std::ofstream(folder / std::to_string(i));
  write_atomically(folder / "a", "old");
  die_while_writing(folder / "a");
  for (int i = 0; i <= files; ++i) write_atomically(folder / "a", "new");
  EXPECT_EQ(entries(folder), files + 1);
}

TEST(File, OnlyTemporariesAreRemoved) {
  const TemporaryFolder folder;
  fs::create_directory(folder / ".ladon-1-1.tmp");
  fs::create_symlink("a", folder / ".ladon-1-2.tmp");
  ASSERT_EQ(mkfifo((folder / ".ladon-1-3.tmp").c_str(), 0600), 0);
  for (const char* name : {".ladon-.tmp", ".ladon-1.tmp", ".ladon-1-.tmp", ".ladon-1-x.tmp",
                           ".ladon-1-1.tmp2", "ladon-1-1.tmp", ".ladon-1-1"})
    std::ofstream(folder / name) << "mine";
  write_atomically(folder / "a", "new");
  EXPECT_EQ(entries(folder), 11);
}

TEST(File, TemporariesOfTheLivingStay) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", [&](OutputFile& file) {
    file.write("first ");
    write_atomically(folder / "b", "beside it");
    const int status = status_of_child([&] { write_atomically(folder / "c", "by another"); });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    file.write("second");
  });
  EXPECT_EQ(read_file(folder / "a"), "first second");
  EXPECT_EQ(read_file(folder / "b"), "beside it");
  EXPECT_EQ(read_file(folder / "c"), "by another");
  EXPECT_EQ(entries(folder), 3);
}

TEST(File, APathWithANulIsAnError) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", "kept");
  const std::string path = (folder / "a").native() + std::string("\0b", 2);
  const std::vector<std::function<void()>> functions = {
      [&] { read_file(path); },
      [&] { InputFile file(path); },
      [&] { write_atomically(path, "x"); },
      [&] { detail::FolderLock lock("test", path); },
      [&] { save_npy(path, ones({1})); },
      [&] { load_npy(path); },
      [&] { save_safetensors(path, {}); },
      [&] { load_safetensors(path); },
      [&] { read_idx(path); },
      [&] { read_mnist(path, path); },
      [&] { read_cifar10(path); },
      [&] { read_cifar100(path); },
      [&] { read_glove(path); },
      [&] { read_trec(path); },
      [&] { read_lines({path}); },
      [&] { read_tsv(path); },
      [&] { guess_columns(path); },
      [&] { Vocabulary().save(path); },
      [&] { Vocabulary::load(path); },
  };
  for (const auto& function : functions)
    expect_error(function,
                 (folder / "a").native() +
                     "\\0…: a path must not contain a NUL character, but has one at byte ");
  EXPECT_EQ(read_file(folder / "a"), "kept");
  EXPECT_EQ(entries(folder), 1);
}

TEST(FolderLock, IsHeldOnceUntilItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder / "new/folder";
  for (int i = 0; i < 2; ++i) {
    const detail::FolderLock lock("test", path);
    expect_error(
        [&] { detail::FolderLock second("test", path); },
        detail::join("[test] the folder ", path, " is in use by process ", getpid(), " on "));
    const int status = status_of_child([&] {
      expect_error([&] { detail::FolderLock second("test", path); }, path);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(FolderLock, EndsWithTheProcess) {
  const TemporaryFolder folder;
  const int status = status_of_child([&] {
    const detail::FolderLock lock("test", folder.path());
    kill(getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(folder / ".ladon-lock"));
  EXPECT_NO_THROW(detail::FolderLock("test", folder.path()));
  write_atomically(folder / "file", "x");
  expect_error([&] { detail::FolderLock("test", folder / "file"); },
               "cannot make the folder " + (folder / "file").native());
}

TEST(FolderLock, LeavesFilesOfOthersAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "lock") << "my notes";
  EXPECT_NO_THROW(detail::FolderLock("test", folder.path()));
  EXPECT_EQ(read_file(folder / "lock"), "my notes");

  const fs::path lock = folder / ".ladon-lock";
  const auto refused = [&](const std::string& why) {
    expect_error([&] { detail::FolderLock("test", folder.path()); },
                 "[test] " + lock.string() + ": " + why);
  };
  std::ofstream(lock) << "my notes";
  refused("must be a lock file of Ladon");
  EXPECT_EQ(read_file(lock), "my notes");
  fs::remove(lock);
  for (const char* target : {"lock", "not there"}) {
    fs::create_symlink(target, lock);
    refused("cannot be opened as the folder's lock: Too many levels of symbolic links");
    fs::remove(lock);
  }
  EXPECT_EQ(read_file(folder / "lock"), "my notes");
  EXPECT_FALSE(fs::exists(folder / "not there"));
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  refused("must be a lock file of Ladon");
}

TEST(File, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe", path = folder.path();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error([&] { read_file(pipe); }, pipe + ": is not a regular file");
  expect_error([&] { read_file(path); }, path + ": is not a regular file");
  expect_error([&] { write_atomically(pipe, "x"); }, pipe + ": exists and is not a regular file");
  expect_error([&] { write_atomically(path, "x"); }, path + ": exists and is not a regular file");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(File, ErrorsNamePathAndReason) {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing", deep = folder / "no/such/file";
  expect_error([&] { read_file(missing); }, missing + ": cannot open: No such file or directory");
  expect_error([&] { read_file(""); }, "cannot open: No such file or directory");
  expect_error([&] { write_atomically(deep, "x"); },
               deep + ": cannot write in its folder: No such");
  EXPECT_EQ(entries(folder), 0);

  const std::string path = test::write(folder, "12345");
  expect_error([&] { read_file(path, 4); }, path + ": 5 bytes are more than the limit of 4");
  InputFile file(path);
  char bytes[8];
  file.read(bytes, 3);
  expect_error([&] { file.read(bytes, 3); },
               path + ": 3 bytes are to be read at byte 3, but only 2");
  file.read(bytes, 2);
  EXPECT_EQ(std::string(bytes, 2), "45");
}

TEST(File, AFileThatShrinksWhileItIsReadIsAnError) {
  const TemporaryFolder folder;
  const std::string path = test::write(folder, std::string(100, 'x'));
  InputFile file(path);
  fs::resize_file(path, 40);
  std::string bytes(100, '\0');
  expect_error([&] { file.read(bytes.data(), 100); }, "60 bytes are missing at byte 40");
}

// Bytes from the examples of RFC 3629 and of what it forbids.
TEST(Utf8, IsToldFromLatin1) {
  for (const char* good : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                           "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "\xe2\x82", "\xf0\x9f\x98"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Utf8, Latin1IsConvertedAndUtf8Kept) {
  EXPECT_EQ(to_utf8("caf\xe9 \x80\xff"), "caf\xc3\xa9 \xc2\x80\xc3\xbf");
  EXPECT_EQ(to_utf8("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(to_utf8("\xef\xbb\xbfx"), "x");
  EXPECT_EQ(to_utf8(""), "");
  for (int c = 0; c < 256; ++c) EXPECT_TRUE(is_utf8(to_utf8(std::string(3, static_cast<char>(c)))));
}

}  // namespace
}  // namespace ladon::file_test
