#include "source/clang_parse.h"

#include <clang/Basic/FileManager.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace regraph::source {
namespace {

// The real file system, in which only regular files below some folders can be opened. Whether
// others exist can be asked: the driver looks for its installation that way.
class HeadersOnly final : public llvm::vfs::ProxyFileSystem {
 public:
  explicit HeadersOnly(const std::vector<std::filesystem::path>& folders)
      : ProxyFileSystem(llvm::vfs::getRealFileSystem()) {
    for (const std::filesystem::path& folder : folders) {
      std::error_code missing;
      const std::filesystem::path real = std::filesystem::canonical(folder, missing);
      if (!missing) folders_.push_back(real);
    }
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    // As if it were not there, so that Clang goes on looking in its other folders.
    const auto refused = std::make_error_code(std::errc::no_such_file_or_directory);
    if (!is_below_a_folder(path.str())) return refused;
    const auto status = ProxyFileSystem::status(path);
    // A FIFO would block for ever.
    if (!status || status->getType() != llvm::sys::fs::file_type::regular_file) return refused;
    return ProxyFileSystem::openFileForRead(path);
  }

 private:
  // Where links and ".." lead counts, not what is written.
  [[nodiscard]] bool is_below_a_folder(const std::string& text) const {
    std::error_code missing;
    const std::filesystem::path path = std::filesystem::canonical(text, missing);
    if (missing) return false;
    return std::ranges::any_of(folders_, [&](const std::filesystem::path& folder) {
      return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
             folder.end();
    });
  }

  std::vector<std::filesystem::path> folders_;
};

class TreeBuilder final : public clang::tooling::ToolAction {
 public:
  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> invocation,
                     clang::FileManager* files,
                     std::shared_ptr<clang::PCHContainerOperations> containers,
                     clang::DiagnosticConsumer* consumer) override {
    auto diagnostics = clang::CompilerInstance::createDiagnostics(
        &invocation->getDiagnosticOpts(), consumer, /*ShouldOwnClient=*/false);
    tree_ = clang::ASTUnit::LoadFromCompilerInvocation(std::move(invocation), std::move(containers),
                                                       std::move(diagnostics), files);
    return tree_ != nullptr;
  }

  [[nodiscard]] std::unique_ptr<clang::ASTUnit> take() { return std::move(tree_); }

 private:
  std::unique_ptr<clang::ASTUnit> tree_;
};

}  // namespace

std::unique_ptr<clang::ASTUnit> parse_with_clang(const ClangParse& parse,
                                                 clang::DiagnosticConsumer& diagnostics) {
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::makeIntrusiveRefCnt<HeadersOnly>(parse.folders));
  auto texts = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  // First: it takes over the working directory, to which the file's name is relative.
  all->pushOverlay(texts);
  texts->addFile(parse.file_name, 0, llvm::MemoryBuffer::getMemBufferCopy(parse.source));
  for (const auto& [path, text] : parse.texts)
    texts->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text));
  auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions(), all);

  std::vector<std::string> command = {"regraph"};
  command.insert(command.end(), parse.arguments.begin(), parse.arguments.end());
  command.push_back(parse.file_name);
  TreeBuilder builder;
  clang::tooling::ToolInvocation invocation(std::move(command), &builder, files.get(),
                                            std::make_shared<clang::PCHContainerOperations>());
  invocation.setDiagnosticConsumer(&diagnostics);
  if (!invocation.run()) return nullptr;
  return builder.take();
}

}  // namespace regraph::source
