#include "driver/elf_object.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include "support/check.h"
#include "support/file.h"

namespace hone {
namespace {

constexpr uint64_t kTableAlignment = 16;
constexpr uint64_t kWeightAlignment = 64;
constexpr Elf64_Xword kLargeSection = 0x10000000;  // SHF_X86_64_LARGE: may lie far away

// Numbers of the sections, in the order in which they are written.
enum SectionNumber : uint16_t {
  kNone,
  kTables,
  kWeights,
  kRelocations,
  kSymbols,
  kSymbolNames,
  kSectionNames,
  kNote,  // says that the stack need not be executable
  kSectionCount,
};
// Local symbols come first: nothing, and one for each of the two sections.
constexpr uint32_t kLocalSymbols = 3;

// Zero-terminated strings, one after the other.
class Strings {
 public:
  uint32_t add(const std::string& text) {
    const auto at = static_cast<uint32_t>(text_.size());
    text_ += text;
    text_ += '\0';
    return at;
  }
  [[nodiscard]] const std::string& bytes() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
};

template <typename T>
ByteSpan bytes_of(const std::vector<T>& items) {
  return std::as_bytes(std::span(items));
}

Elf64_Ehdr file_header(bool arm, uint64_t section_headers) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = arm ? EM_AARCH64 : EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = section_headers;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kSectionNames;
  return header;
}

struct Content {
  std::string name;
  Elf64_Word type;
  Elf64_Xword flags;
  ByteSpan bytes;
  uint64_t alignment;
  Elf64_Word link = 0, info = 0;
  uint64_t entry = 0;
};

std::vector<Elf64_Sym> symbol_table(const std::vector<ElfObject::Symbol>& symbols, Strings& names) {
  std::vector<Elf64_Sym> table(kLocalSymbols);
  for (const uint16_t section : {kTables, kWeights}) {
    table[section].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    table[section].st_shndx = section;
  }
  for (const ElfObject::Symbol& symbol : symbols) {
    const bool defined = symbol.place.valid;
    const bool in_tables = symbol.place.section == ElfObject::Section::kTables;
    Elf64_Sym& out = table.emplace_back();
    out.st_name = names.add(symbol.name);
    out.st_info = ELF64_ST_INFO(STB_GLOBAL, defined ? STT_OBJECT : STT_NOTYPE);
    out.st_other = STV_HIDDEN;
    if (defined) out.st_shndx = in_tables ? kTables : kWeights;
    out.st_value = symbol.place.offset;
    out.st_size = symbol.size;
  }
  return table;
}

std::vector<Elf64_Rela> relocation_table(const std::vector<ElfObject::Relocation>& relocations,
                                         uint32_t type) {
  std::vector<Elf64_Rela> table;
  for (const ElfObject::Relocation& relocation : relocations) {
    const uint64_t symbol = relocation.symbol < 0
                                ? static_cast<uint64_t>(-relocation.symbol)
                                : kLocalSymbols + static_cast<uint64_t>(relocation.symbol);
    table.push_back(
        {relocation.at, ELF64_R_INFO(symbol, type), static_cast<int64_t>(relocation.addend)});
  }
  return table;
}

void write_contents(const std::string& path, bool arm, const std::vector<Content>& contents,
                    const std::vector<uint32_t>& names) {
  std::vector<Elf64_Shdr> headers(kSectionCount);
  uint64_t offset = sizeof(Elf64_Ehdr);
  for (size_t i = 1; i < contents.size(); ++i) {
    const Content& content = contents[i];
    offset = (offset + content.alignment - 1) / content.alignment * content.alignment;
    headers[i] = {names[i],
                  content.type,
                  content.flags,
                  0,
                  offset,
                  content.bytes.size(),
                  content.link,
                  content.info,
                  content.alignment,
                  content.entry};
    offset += content.bytes.size();
  }
  const Elf64_Ehdr header = file_header(arm, (offset + 7) / 8 * 8);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  for (size_t i = 1; i < contents.size(); ++i) {
    file.align(contents[i].alignment);
    file.write(contents[i].bytes);
  }
  file.align(8);
  file.write(bytes_of(headers));
  file.commit();
}

}  // namespace

ElfObject::Place ElfObject::add(std::span<const std::byte> bytes) {
  tables_.resize((tables_.size() + kTableAlignment - 1) / kTableAlignment * kTableAlignment);
  const Place place{Section::kTables, tables_.size(), true};
  tables_.insert(tables_.end(), bytes.begin(), bytes.end());
  return place;
}

ElfObject::Place ElfObject::add_text(const std::string& text) {
  return add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

ElfObject::Place ElfObject::set_weights(std::span<const std::byte> bytes) {
  HONE_CHECK(weights_.empty(), "an object has one block of weights");
  weights_ = bytes;
  return {Section::kWeights, 0, true};
}

void ElfObject::point(Place where, uint64_t field, Place target) {
  if (!target.valid) return;
  relocations_.push_back(
      {where.offset + field, target.section == Section::kTables ? -1 : -2, target.offset});
}

void ElfObject::point_to_symbol(Place where, uint64_t field, const std::string& name) {
  relocations_.push_back({where.offset + field, symbol_number(name), 0});
}

void ElfObject::define(const std::string& name, Place place, uint64_t size) {
  Symbol& symbol = symbols_[static_cast<size_t>(symbol_number(name))];
  symbol.place = place;
  symbol.size = size;
}

int ElfObject::symbol_number(const std::string& name) {
  const auto at = std::ranges::find(symbols_, name, &Symbol::name);
  if (at != symbols_.end()) return static_cast<int>(at - symbols_.begin());
  symbols_.push_back({name, {}, 0});
  return static_cast<int>(symbols_.size()) - 1;
}

void ElfObject::write(const std::string& path) const {
  const bool arm = machine_ == Machine::kArm64;
  Strings symbol_names, section_names;
  const std::vector<Elf64_Sym> symbols = symbol_table(symbols_, symbol_names);
  const std::vector<Elf64_Rela> relocations =
      relocation_table(relocations_, arm ? R_AARCH64_ABS64 : R_X86_64_64);
  std::vector<Content> contents = {
      {"", SHT_NULL, 0, {}, 1},
      {".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, bytes_of(tables_), kTableAlignment},
      {arm ? ".rodata" : ".lrodata", SHT_PROGBITS, SHF_ALLOC | (arm ? 0 : kLargeSection), weights_,
       kWeightAlignment},
      {".rela.data.rel.ro", SHT_RELA, SHF_INFO_LINK, bytes_of(relocations), 8, kSymbols, kTables,
       sizeof(Elf64_Rela)},
      {".symtab", SHT_SYMTAB, 0, bytes_of(symbols), 8, kSymbolNames, kLocalSymbols,
       sizeof(Elf64_Sym)},
      {".strtab", SHT_STRTAB, 0, std::as_bytes(std::span(symbol_names.bytes())), 1},
      {".shstrtab", SHT_STRTAB, 0, {}, 1},
      {".note.GNU-stack", SHT_PROGBITS, 0, {}, 1},
  };
  std::vector<uint32_t> names;
  for (const Content& content : contents) names.push_back(section_names.add(content.name));
  contents[kSectionNames].bytes = std::as_bytes(std::span(section_names.bytes()));
  write_contents(path, arm, contents, names);
}

}  // namespace hone
