#include "driver/library_header.h"

#include <cctype>

#include <fmt/format.h>

#include "driver/library_data.h"
#include "support/version.h"

namespace hone {
namespace {

// A name within a comment.
std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += std::isprint(static_cast<unsigned char>(c)) != 0 && c != '*' ? c : '?';
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string list_of(const std::vector<PlanValue>& values, const char* what) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format(" *   {} {}: {}: {}, {} bytes\n", what, i, quoted(values[i].name),
                        values[i].type.to_string(), info_of(values[i]).bytes);
  return text;
}

constexpr const char* kText =
    R"(/* {name}: a model that hone {version} compiled for {cpu} ({triple}).
 *
{values} *
 *   {name}* model = {name}_create({weights}, 1);
 *   const void* inputs[] = {{...}};
 *   void* outputs[] = {{...}};
 *   const char* error = {name}_run(model, inputs, outputs);
 *   {name}_destroy(model);
 *
 * Link with -lm -lpthread. One {name} runs once at a time; to run in several threads at once, create
 * one in each: they share code and weights. */
#ifndef HONE_MODEL_{upper}_H
#define HONE_MODEL_{upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

typedef struct {name} {name};

typedef struct {name}_tensor {{
  const char* name;
  int32_t element_type; /* ONNX's number: 1 is float, 7 is int64_t */
  int32_t rank;
  const int64_t* dims;
  int64_t bytes;
}} {name}_tensor;

/* {weights_doc}
 * `threads` counts the caller. Null when memory or threads cannot be had{or_weights}. */
{name}* {name}_create(const char* weights_path, int threads);
void {name}_destroy({name}* model);

/* Dense, row-major data, aligned to its elements; outputs must not overlap with inputs. Null, or what
 * went wrong. Allocates nothing. */
const char* {name}_run({name}* model, const void* const* inputs, void* const* outputs);

int {name}_input_count(void);
int {name}_output_count(void);
/* Null beyond the last. */
const {name}_tensor* {name}_input(int index);
const {name}_tensor* {name}_output(int index);

#ifdef __cplusplus
}}
#endif

#endif
)";

}  // namespace

std::string library_header(const Plan& plan, const LibraryOptions& options) {
  const bool beside = !options.weights.empty();
  return fmt::format(
      fmt::runtime(kText), fmt::arg("name", options.name), fmt::arg("version", kVersion),
      fmt::arg("cpu", options.cpu.name), fmt::arg("triple", options.cpu.triple),
      fmt::arg("values", list_of(plan.inputs, "input") + list_of(plan.outputs, "output")),
      fmt::arg("weights", beside ? "\"path of the weights\"" : "NULL"),
      fmt::arg("upper", upper(options.name)),
      fmt::arg("weights_doc",
               beside ? "`weights_path` names the file that was written beside the library."
                      : "The weights are part of the library: `weights_path` is NULL."),
      fmt::arg("or_weights", beside ? ", or when the file holds other weights" : ""));
}

}  // namespace hone
