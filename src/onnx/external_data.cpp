#include "onnx/external_data.h"

#include <charconv>
#include <filesystem>
#include <optional>

namespace hone {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string location;
  std::optional<uint64_t> offset, length;
};

uint64_t parse_number(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    throw_invalid("external data has " + key + " '" + text + "', which is no number of bytes");
  return value;
}

Entry entry_of(const onnx::TensorProto& tensor) {
  Entry entry;
  for (const auto& item : tensor.external_data()) {
    if (item.key() == "location") entry.location = item.value();
    if (item.key() == "offset") entry.offset = parse_number("offset", item.value());
    if (item.key() == "length") entry.length = parse_number("length", item.value());
  }
  return entry;
}

void check_location(const std::string& location) {
  if (location.empty()) throw_invalid("external data has no location");
  const fs::path path(location);
  bool leaves = path.is_absolute() || location.find('\0') != std::string::npos;
  for (const fs::path& part : path) leaves = leaves || part == "..";
  if (leaves)
    throw_invalid("external data location '" + location + "' leaves the model's folder",
                  "only files in the folder of the model are read");
}

bool lies_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

ExternalFiles::ExternalFiles(std::string directory, const std::string& model_path)
    : directory_(std::move(directory)) {
  std::error_code problem;
  const fs::path folder = fs::canonical(directory_.empty() ? "." : directory_, problem);
  if (!problem) directory_ = folder.string();
  if (model_path.empty()) return;
  const fs::path real = fs::canonical(model_path, problem);
  if (!problem) linked_directory_ = real.parent_path().string();
}

std::shared_ptr<const MappedFile> ExternalFiles::open(const std::string& location) {
  auto& file = files_[location];
  if (file) return file;
  check_location(location);
  std::error_code problem;
  const fs::path path = fs::canonical(fs::path(directory_) / location, problem);
  if (problem)
    throw_invalid("external data file '" + location + "' is missing in " + directory_,
                  "put it beside the model");
  if (!lies_within(path, directory_) &&
      (linked_directory_.empty() || !lies_within(path, linked_directory_)))
    throw_invalid("external data location '" + location + "' is a link out of the model's folder",
                  "only files in the folder of the model are read");
  return file = MappedFile::open(path.string());
}

ExternalFiles::Part ExternalFiles::find(const onnx::TensorProto& tensor, uint64_t expected) {
  const Entry entry = entry_of(tensor);
  const auto file = open(entry.location);
  const uint64_t offset = entry.offset.value_or(0);
  const uint64_t size = file->bytes().size();
  if (entry.length && *entry.length != expected)
    throw_invalid("external data has " + std::to_string(*entry.length) + " bytes, but " +
                  std::to_string(expected) + " are needed");
  if (offset > size || expected > size - offset)
    throw_invalid("external data ends beyond the file '" + entry.location + "' of " +
                      std::to_string(size) + " bytes",
                  "the file is incomplete or belongs to another model");
  return {file->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(expected)), file};
}

}  // namespace hone
