#include "codegen/link.h"

#include <mutex>

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

namespace hone {

Result<void> link_objects(const std::vector<std::string>& arguments) {
  static std::mutex only_one;  // the linker's state is global
  const std::scoped_lock lock(only_one);
  std::vector<const char*> words = {"ld.lld"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  const bool linked = lld::elf::link(words, out, out, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (linked) return {};
  while (messages.ends_with('\n')) messages.pop_back();
  return fail(ErrorKind::kSystem, "linking", messages);
}

}  // namespace hone
