// Mutations of ONNX models as messages instead of bytes, so that most of what the fuzzer tries is
// still protobuf: a field takes another value, an element is copied, moved or lost.
#pragma once

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message.h>

#include "onnx/onnx_pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace hone {

class ModelMutator {
 public:
  // `words` are texts worth trying: names of operators and attributes.
  ModelMutator(unsigned seed, const std::vector<std::string>& words)
      : random_(seed), words_(words) {}

  void mutate(onnx::ModelProto& model) {
    for (size_t steps = 1 + below(3); steps > 0; --steps) {
      messages_.clear();
      donors_.clear();
      names_.clear();
      collect(model, 0);
      mutate_one(*messages_[below(messages_.size())]);
    }
  }

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;
  using Reflection = google::protobuf::Reflection;

  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  bool one_in(size_t n) { return below(n) == 0; }

  // All messages of the tree, and the texts in it: the names that nodes refer to each other by.
  void collect(Message& message, int depth) {
    messages_.push_back(&message);
    if (message.ByteSizeLong() < 1024)
      donors_.emplace_back(message.GetDescriptor(), message.SerializeAsString());
    if (depth > 40) return;
    const Reflection* access = message.GetReflection();
    std::vector<const Field*> fields;
    access->ListFields(message, &fields);
    for (const Field* field : fields) {
      const int count = field->is_repeated() ? access->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == Field::CPPTYPE_MESSAGE)
          collect(field->is_repeated() ? *access->MutableRepeatedMessage(&message, field, i)
                                       : *access->MutableMessage(&message, field),
                  depth + 1);
        if (field->cpp_type() == Field::CPPTYPE_STRING && field->type() == Field::TYPE_STRING)
          names_.push_back(field->is_repeated() ? access->GetRepeatedString(message, field, i)
                                                : access->GetString(message, field));
      }
    }
  }

  // Mostly a field that is there; now and then any.
  const Field* pick_field(const Message& message) {
    std::vector<const Field*> fields;
    if (!one_in(4)) message.GetReflection()->ListFields(message, &fields);
    if (!fields.empty()) return fields[below(fields.size())];
    const auto* type = message.GetDescriptor();
    return type->field_count() == 0
               ? nullptr
               : type->field(static_cast<int>(below(static_cast<size_t>(type->field_count()))));
  }

  void mutate_one(Message& message) {
    const Field* field = pick_field(message);
    if (field == nullptr) return;
    if (field->is_repeated()) return mutate_repeated(message, field);
    if (one_in(10)) return message.GetReflection()->ClearField(&message, field);
    set(message, field, -1);
  }

  void mutate_repeated(Message& message, const Field* field) {
    const Reflection* access = message.GetReflection();
    const int count = access->FieldSize(message, field);
    if (count == 0 || one_in(4)) {
      set(message, field, add(message, field));
      if (count > 0 && one_in(2)) access->SwapElements(&message, field, pick(count), count);
      return;
    }
    if (one_in(4)) return access->SwapElements(&message, field, pick(count), pick(count));
    if (one_in(4)) {
      access->SwapElements(&message, field, pick(count), count - 1);
      return access->RemoveLast(&message, field);
    }
    set(message, field, pick(count));
  }

  int pick(int count) { return static_cast<int>(below(static_cast<size_t>(count))); }

  // A new element at the end; its index.
  static int add(Message& message, const Field* field) {
    const Reflection* access = message.GetReflection();
    switch (field->cpp_type()) {
      case Field::CPPTYPE_INT32:
        access->AddInt32(&message, field, 0);
        break;
      case Field::CPPTYPE_INT64:
        access->AddInt64(&message, field, 0);
        break;
      case Field::CPPTYPE_UINT64:
        access->AddUInt64(&message, field, 0);
        break;
      case Field::CPPTYPE_FLOAT:
        access->AddFloat(&message, field, 0);
        break;
      case Field::CPPTYPE_DOUBLE:
        access->AddDouble(&message, field, 0);
        break;
      case Field::CPPTYPE_ENUM:
        access->AddEnumValue(&message, field, 0);
        break;
      case Field::CPPTYPE_STRING:
        access->AddString(&message, field, "");
        break;
      case Field::CPPTYPE_MESSAGE:
        access->AddMessage(&message, field);
        break;
      default:
        break;
    }
    return access->FieldSize(message, field) - 1;
  }

  // Sets one element, or the field itself when `at` is negative.
  void set(Message& m, const Field* f, int at) {
    const Reflection* a = m.GetReflection();
    const bool one = at < 0;
    switch (f->cpp_type()) {
      case Field::CPPTYPE_INT32: {
        const auto v =
            static_cast<int32_t>(integer(one ? a->GetInt32(m, f) : a->GetRepeatedInt32(m, f, at)));
        return one ? a->SetInt32(&m, f, v) : a->SetRepeatedInt32(&m, f, at, v);
      }
      case Field::CPPTYPE_INT64: {
        const int64_t v = integer(one ? a->GetInt64(m, f) : a->GetRepeatedInt64(m, f, at));
        return one ? a->SetInt64(&m, f, v) : a->SetRepeatedInt64(&m, f, at, v);
      }
      case Field::CPPTYPE_UINT64: {
        const auto v = static_cast<uint64_t>(integer(0));
        return one ? a->SetUInt64(&m, f, v) : a->SetRepeatedUInt64(&m, f, at, v);
      }
      case Field::CPPTYPE_FLOAT: {
        const auto v = static_cast<float>(real());
        return one ? a->SetFloat(&m, f, v) : a->SetRepeatedFloat(&m, f, at, v);
      }
      case Field::CPPTYPE_DOUBLE: {
        const double v = real();
        return one ? a->SetDouble(&m, f, v) : a->SetRepeatedDouble(&m, f, at, v);
      }
      case Field::CPPTYPE_ENUM: {
        const auto v = static_cast<int>(below(24));
        return one ? a->SetEnumValue(&m, f, v) : a->SetRepeatedEnumValue(&m, f, at, v);
      }
      case Field::CPPTYPE_STRING: {
        const std::string v = text(one ? a->GetString(m, f) : a->GetRepeatedString(m, f, at));
        return one ? a->SetString(&m, f, v) : a->SetRepeatedString(&m, f, at, v);
      }
      case Field::CPPTYPE_MESSAGE: {
        const std::optional<std::string> bytes = donor(f->message_type());
        Message& inner = one ? *a->MutableMessage(&m, f) : *a->MutableRepeatedMessage(&m, f, at);
        if (!bytes) return mutate_one(inner);
        inner.ParseFromString(*bytes);
        return;
      }
      default:
        return;
    }
  }

  // The bytes of some message of this type, if there is one.
  std::optional<std::string> donor(const google::protobuf::Descriptor* type) {
    std::vector<const std::string*> found;
    for (const auto& [other, bytes] : donors_)
      if (other == type) found.push_back(&bytes);
    if (found.empty()) return std::nullopt;
    return *found[below(found.size())];
  }

  int64_t integer(int64_t old) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t interesting[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   255,
                                   256,
                                   65536,
                                   int64_t{1} << 31,
                                   int64_t{1} << 32,
                                   int64_t{1} << 40,
                                   int64_t{1} << 62,
                                   kMost,
                                   -kMost - 1,
                                   -(int64_t{1} << 31)};
    switch (below(4)) {
      case 0:
        return interesting[below(std::size(interesting))];
      case 1:
        return static_cast<int64_t>(below(30));
      case 2:
        return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
      default:
        return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
    }
  }

  double real() {
    const double interesting[] = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0.5,
                                  1e-45,
                                  1e38,
                                  2.0,
                                  1e300,
                                  3.5,
                                  std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()};
    return interesting[below(std::size(interesting))];
  }

  std::string text(std::string old) {
    switch (below(4)) {
      case 0:
        return words_.empty() ? old : words_[below(words_.size())];
      case 1:
      case 2:
        return names_.empty() ? old : names_[below(names_.size())];
      default:
        break;
    }
    const size_t size = old.size();
    old.resize(size + 16);
    old.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(old.data()), size, old.size()));
    return old;
  }

  std::minstd_rand random_;
  const std::vector<std::string>& words_;
  std::vector<Message*> messages_;  // only until the first change
  std::vector<std::pair<const google::protobuf::Descriptor*, std::string>> donors_;
  std::vector<std::string> names_;
};

}  // namespace hone
