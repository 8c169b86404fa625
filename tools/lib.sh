# Shared by the shell tools: where the cache is, and the names of what lies in it.
# Source it; it sets variables only.
HONE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HONE_CACHE=${HONE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hone}
export HONE_CACHE

while IFS='=' read -r name value; do
  [[ $name =~ ^[A-Z0-9_]+$ ]] && printf -v "$name" '%s' "$value"
done < "$HONE_ROOT/tools/versions.env"

# The first 12 digits of the hash of its arguments (of standard input if there are none).
key_of() {
  if (($#)); then printf '%s' "$*"; else cat; fi | sha256sum | cut -c1-12
}

venv_dir=$HONE_CACHE/venv-$(key_of < "$HONE_ROOT/tools/requirements.txt")
# CMakeLists.txt computes the same name.
onnx_dir=$HONE_CACHE/onnx-cpp-$ONNX_VERSION-$(key_of "$ONNX_VERSION $ONNX_CXX_FLAGS $ONNX_CMAKE_OPTIONS")
cases_dir=$HONE_CACHE/onnx-cases-$ONNX_VERSION
