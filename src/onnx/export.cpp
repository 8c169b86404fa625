#include "onnx/export.h"

#include <filesystem>

#include <google/protobuf/stubs/logging.h>

#include "onnx/check.h"
#include "onnx/encode.h"
#include "onnx/tensor_reader.h"
#include "onnx/wire.h"
#include "support/check.h"
#include "support/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMinExternalBytes = 1024;  // smaller tensors stay in the model
constexpr uint64_t kProtobufLimit = (uint64_t{1} << 31) - 1;

// The model's message with references to buffers instead of data.
struct Skeleton {
  onnx::ModelProto proto;
  std::vector<Buffer> buffers;  // by RawReference::offset
  uint64_t data_bytes = 0;
};

void encode_header(const Model& model, onnx::ModelProto& out) {
  if (!model.unknown_fields.empty() && !out.ParseFromString(model.unknown_fields))
    throw_invalid("fields kept from the source are damaged");
  out.set_ir_version(model.ir_version);
  if (!model.producer_name.empty()) out.set_producer_name(model.producer_name);
  if (!model.producer_version.empty()) out.set_producer_version(model.producer_version);
  if (!model.domain.empty()) out.set_domain(model.domain);
  if (model.model_version != 0) out.set_model_version(model.model_version);
  if (!model.doc.empty()) out.set_doc_string(model.doc);
  for (const auto& [domain, version] : model.opsets) {
    auto* import = out.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  for (const auto& [key, text] : model.metadata) {
    auto* entry = out.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
  for (const std::string& function : model.functions)
    if (!out.add_functions()->ParseFromString(function))
      throw_invalid("a function kept from the source is damaged");
}

Skeleton encode_model(const Model& model) {
  Skeleton skeleton;
  const Encoder encoder(
      [&](const Buffer& buffer, onnx::TensorProto& out) {
        const uint64_t length = file_bytes(buffer.type(), buffer.count());
        if (length == 0) return;
        out.set_raw_data(encode(RawReference{skeleton.buffers.size(), length}));
        skeleton.buffers.push_back(buffer);
        skeleton.data_bytes += length;
      },
      model.ir_version);
  encode_header(model, skeleton.proto);
  // All raw_data become references, so that none that was kept can be taken for one.
  for_each_tensor(skeleton.proto, [&](onnx::TensorProto& tensor) { encoder.adopt(tensor); });
  *skeleton.proto.mutable_graph() = encoder.graph(model.graph);
  return skeleton;
}

void write_buffer(const Buffer& buffer, const std::function<void(ByteSpan)>& write) {
  if (bits_of(buffer.type()) >= 8) return write(buffer.bytes());
  const std::string packed = pack(buffer);
  write(bytes_of(packed));
}

void add_entry(onnx::TensorProto& tensor, const char* key, const std::string& value) {
  auto* entry = tensor.add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

// Moves the data of large initializers of the main graph to `file`, equal buffers once.
void write_external(Skeleton& skeleton, const std::string& location, AtomicFile& file) {
  std::map<std::pair<const std::byte*, uint64_t>, uint64_t> placed;
  for (auto& tensor : *skeleton.proto.mutable_graph()->mutable_initializer()) {
    const auto reference = decode_reference(tensor.raw_data());
    if (!reference || reference->length < kMinExternalBytes) continue;
    const Buffer& buffer = skeleton.buffers[static_cast<size_t>(reference->offset)];
    auto at = placed.find({buffer.data(), reference->length});
    if (at == placed.end()) {
      file.align(kPageBytes);
      at = placed.emplace(std::pair(buffer.data(), reference->length), file.size()).first;
      write_buffer(buffer, [&](ByteSpan bytes) { file.write(bytes); });
    }
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    add_entry(tensor, "location", location);
    add_entry(tensor, "offset", std::to_string(at->second));
    add_entry(tensor, "length", std::to_string(reference->length));
  }
}

void write_model(const Skeleton& skeleton, AtomicFile& file) {
  std::string bytes;
  if (!skeleton.proto.SerializeToString(&bytes)) throw_unsupported("the model is too large");
  const auto reference_of = [](ByteSpan raw) {
    const auto reference =
        decode_reference({reinterpret_cast<const char*>(raw.data()), raw.size()});
    HONE_CHECK(reference, "all data of the skeleton are references");
    return *reference;
  };
  RawDataRewrite rewrite;
  rewrite.size = [&](ByteSpan raw) { return reference_of(raw).length; };
  rewrite.write = [&](ByteSpan raw, const std::function<void(ByteSpan)>& write) {
    write_buffer(skeleton.buffers.at(static_cast<size_t>(reference_of(raw).offset)), write);
  };
  rewrite_raw_data(bytes_of(bytes), WireMessage::kModel, rewrite,
                   [&](ByteSpan part) { file.write(part); });
}

void export_or_throw(const Model& model, const std::string& path, const ExportOptions& options) {
  using External = ExportOptions::ExternalData;
  Skeleton skeleton = encode_model(model);
  const uint64_t size = skeleton.data_bytes + skeleton.proto.ByteSizeLong();
  if (options.external == External::kNever && size > kProtobufLimit)
    throw_unsupported(
        "the model has " + std::to_string(size) + " bytes; one ONNX file cannot exceed 2 GB",
        "allow external data");
  const bool external = options.external == External::kAlways ||
                        (options.external == External::kAuto && size > options.external_above);
  AtomicFile file(path);
  if (!external) {
    write_model(skeleton, file);
    return file.commit();
  }
  const fs::path data_path(path + ".data");
  AtomicFile data(data_path.string());
  write_external(skeleton, data_path.filename().string(), data);
  write_model(skeleton, file);
  // Both are complete before either gets its name.
  file.flush();
  data.commit();
  file.commit();
}

}  // namespace

Result<void> export_onnx(const Model& model, const std::string& path,
                         const ExportOptions& options) {
  const google::protobuf::LogSilencer silent;  // libraries do not print
  try {
    export_or_throw(model, path, options);
    return {};
  } catch (const Failure& failure) {
    Error error = failure.error;
    if (error.where.empty()) error.where = path;
    return std::unexpected(std::move(error));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kSystem, path, "memory does not suffice");
  }
}

}  // namespace hone
