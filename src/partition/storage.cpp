#include "partition/storage.h"

#include <algorithm>

namespace hone {

std::vector<int64_t> row_major(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

Storage choose_storage(TensorProgram& program) {
  Storage storage;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const ProgramTensor& tensor = program.tensors[i];
    View view;
    view.root = static_cast<int>(i);
    view.strides = row_major(tensor.dims);
    view.before.assign(tensor.dims.size(), 0);
    view.after.assign(tensor.dims.size(), 0);
    storage.views.push_back(std::move(view));
    storage.elements.push_back(tensor.count());
  }
  return storage;
}

}  // namespace hone
