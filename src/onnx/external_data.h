// Data of tensors in files beside the model. A model says which file; it must not be able to name
// one outside its own folder.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "onnx/onnx_pb.h"
#include "support/file.h"

namespace hone {

class ExternalFiles {
 public:
  // `directory` is the model's; with `model_path`, also the folder that it is a link into, where a
  // download cache keeps model and data together.
  explicit ExternalFiles(std::string directory, const std::string& model_path = {});

  struct Part {
    ByteSpan bytes;
    std::shared_ptr<const void> owner;
  };
  // The part of a file that the tensor names, `expected` bytes long. Throws a Failure.
  Part find(const onnx::TensorProto& tensor, uint64_t expected);

 private:
  std::shared_ptr<const MappedFile> open(const std::string& location);

  std::string directory_, linked_directory_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace hone
