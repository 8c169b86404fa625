#include "partition/fuse.h"

namespace hone {

Result<void> fuse(TensorProgram& program) {
  for (Op& op : program.ops) simplify(op, program);
  return {};
}

}  // namespace hone
