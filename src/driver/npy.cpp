#include "driver/npy.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "support/file.h"

namespace hone {
namespace {

using enum ElementType;

constexpr std::pair<std::string_view, ElementType> kCodes[] = {
    {"<f4", kF32}, {"<f8", kF64}, {"<f2", kF16}, {"|i1", kI8},  {"<i2", kI16}, {"<i4", kI32},
    {"<i8", kI64}, {"|u1", kU8},  {"<u2", kU16}, {"<u4", kU32}, {"<u8", kU64}, {"|b1", kBool}};

constexpr std::string_view kMagic = "\x93NUMPY";

std::unexpected<Error> broken(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::kInvalid, path, reason, "write it with numpy.save(file, array)");
}

// The text after 'key': in the header's dictionary.
std::optional<std::string_view> entry(std::string_view header, std::string_view key) {
  const size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return std::nullopt;
  const size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(colon + 1);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

std::optional<ElementType> parse_type(std::string_view header) {
  const auto text = entry(header, "descr");
  if (!text || text->size() < 5) return std::nullopt;
  for (const auto& [code, type] : kCodes)
    if (text->substr(1, 3) == code) return type;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parse_dims(std::string_view header) {
  auto text = entry(header, "shape");
  if (!text || text->empty() || text->front() != '(') return std::nullopt;
  text->remove_prefix(1);
  std::vector<int64_t> dims;
  while (!text->empty() && text->front() != ')') {
    if (text->front() == ' ' || text->front() == ',') {
      text->remove_prefix(1);
      continue;
    }
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), dim);
    if (error != std::errc() || dim < 0) return std::nullopt;
    dims.push_back(dim);
    text->remove_prefix(static_cast<size_t>(end - text->data()));
  }
  return text->empty() ? std::nullopt : std::optional(dims);
}

}  // namespace

Result<Buffer> read_npy(const std::string& path) try {
  const auto file = MappedFile::open(path);
  const std::string_view all(reinterpret_cast<const char*>(file->bytes().data()),
                             file->bytes().size());
  if (all.size() < 12 || !all.starts_with(kMagic)) return broken(path, "is not a .npy file");
  if (all[6] < 1 || all[6] > 3) return broken(path, "is a .npy file of an unknown version");
  const bool wide = all[6] >= 2;
  const size_t start = wide ? 12 : 10;
  size_t length = 0;
  for (size_t i = 0; i < (wide ? 4U : 2U); ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(all[8 + i])) << (8 * i);
  if (length > all.size() - start) return broken(path, "has a truncated header");
  const std::string_view header = all.substr(start, length);
  const auto type = parse_type(header);
  const auto dims = parse_dims(header);
  if (!type) return broken(path, "has an element type that hone does not read");
  if (!dims) return broken(path, "has a broken shape");
  if (const auto order = entry(header, "fortran_order"); !order || !order->starts_with("False"))
    return broken(path, "is in Fortran order");
  const std::string_view data = all.substr(start + length);
  if (static_cast<size_t>(checked_count(*dims)) > data.size() / size_of(*type))
    return broken(path, "has fewer elements than its shape says");
  return Buffer::borrow(*type, *dims, data.data(), file).aligned();
} catch (Failure& failure) {
  if (failure.error.kind == ErrorKind::kSystem) return std::unexpected(std::move(failure.error));
  return broken(path, failure.error.reason);
}

Result<void> write_npy(const std::string& path, const Buffer& buffer) try {
  std::string_view code;
  for (const auto& [text, type] : kCodes)
    if (type == buffer.type()) code = text;
  if (buffer.type() == kString || buffer.type() == kC64 || buffer.type() == kC128)
    return fail(ErrorKind::kUnsupported, path,
                "tensors of " + std::string(name_of(buffer.type())) + " are not written as .npy");
  if (code.empty()) {
    const bool real = is_float(buffer.type());
    return write_npy(path, convert(buffer, real ? kF32 : kI32));
  }
  std::string shape;
  for (const int64_t dim : buffer.dims()) shape += std::to_string(dim) + ", ";
  std::string header =
      "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  AtomicFile file(path);
  file.write(start + header);
  file.write(buffer.bytes());
  file.commit();
  return {};
} catch (Failure& failure) {
  return std::unexpected(std::move(failure.error));
}

}  // namespace hone
