#include "onnx/import.h"

#include <filesystem>

#include <google/protobuf/stubs/logging.h>

#include "onnx/check.h"
#include "onnx/convert.h"
#include "onnx/expand.h"
#include "support/file.h"

namespace hone {
namespace {

struct Source {
  ByteSpan bytes;
  std::shared_ptr<const void> owner;
  std::string directory;
  std::string path;  // empty when the model came from memory
};

Errors with_file(Errors errors, const std::string& path) {
  for (Error& error : errors)
    if (!path.empty()) error.where = error.where.empty() ? path : path + ": " + error.where;
  return errors;
}

Model model_without_graph(const onnx::ModelProto& proto) {
  Model model;
  model.ir_version = proto.ir_version();
  model.opsets = opsets_of(proto.opset_import());
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  model.doc = proto.doc_string();
  model.model_version = proto.model_version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  return model;
}

// What hone does not interpret, as the bytes of a ModelProto that holds nothing else: training,
// device configurations, fields of later versions.
std::string remaining_fields(onnx::ModelProto proto, ByteSpan file) {
  proto.clear_ir_version();
  proto.clear_opset_import();
  proto.clear_producer_name();
  proto.clear_producer_version();
  proto.clear_domain();
  proto.clear_doc_string();
  proto.clear_model_version();
  proto.clear_metadata_props();
  proto.clear_graph();
  proto.clear_functions();
  return with_data(bytes_of(proto.SerializeAsString()), WireMessage::kModel, file);
}

Results<Model> import_source(const Source& source, const OperatorTable& table,
                             const ImportOptions& options) {
  onnx::ModelProto proto;
  {
    const std::string skeleton = skeleton_of(source.bytes, WireMessage::kModel);
    if (skeleton.empty() || skeleton.size() > INT32_MAX || !proto.ParseFromString(skeleton))
      throw_invalid("is not an ONNX model", "the file is damaged or of another kind");
  }
  if (Errors errors = check_versions(proto); !errors.empty()) return std::unexpected(errors);
  if (options.check)
    if (Errors errors = check_nodes(proto); !errors.empty()) return std::unexpected(errors);
  if (Errors errors = inline_functions(proto, options.max_inlined_nodes); !errors.empty())
    return std::unexpected(errors);

  TensorReader reader(source.bytes, source.owner, ExternalFiles(source.directory, source.path),
                      options.allow_missing_data);
  Model model = model_without_graph(proto);
  ConvertContext context{table, reader, proto.ir_version(), model.opsets, {}};
  model.graph = convert_graph(proto.graph(), model.opsets, context);
  if (!context.errors.empty()) return std::unexpected(std::move(context.errors));
  proto.clear_graph();
  Errors errors = infer_and_expand(model.graph, local_functions_of(proto), context);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  for (const auto& function : proto.functions())
    model.functions.push_back(
        with_data(bytes_of(function.SerializeAsString()), WireMessage::kFunction, source.bytes));
  model.unknown_fields = remaining_fields(std::move(proto), source.bytes);
  return model;
}

Results<Model> import_guarded(const Source& source, const OperatorTable& table,
                              const ImportOptions& options) {
  const google::protobuf::LogSilencer silent;  // libraries do not print
  try {
    Results<Model> model = import_source(source, table, options);
    if (model) return model;
    return std::unexpected(with_file(std::move(model.error()), source.path));
  } catch (const Failure& failure) {
    return std::unexpected(with_file({failure.error}, source.path));
  } catch (const std::bad_alloc&) {
    return std::unexpected(
        Errors{{ErrorKind::kSystem, source.path, "memory does not suffice", {}}});
  }
}

}  // namespace

Results<Model> import_onnx(const std::string& path, const OperatorTable& table,
                           const ImportOptions& options) {
  std::shared_ptr<const MappedFile> file;
  try {
    file = MappedFile::open(path);
  } catch (const Failure& failure) {
    return std::unexpected(Errors{failure.error});
  }
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return import_guarded({file->bytes(), file, directory, path}, table, options);
}

Results<Model> import_onnx_bytes(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner, const std::string& directory,
                                 const OperatorTable& table, const ImportOptions& options) {
  return import_guarded({bytes, std::move(owner), directory, {}}, table, options);
}

}  // namespace hone
