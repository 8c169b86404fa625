// Recurrent layers: RNN, GRU, LSTM. Each direction is one scan over the steps; what does not
// depend on the state is computed for all steps before it.
#include "ops/recurrent.h"

#include "ops/table.h"

namespace hone {
namespace {

constexpr const char* kRecurrentAttributes =
    "activation_alpha: floats, activation_beta: floats, activations: strings, clip: float, "
    "direction: string = \"forward\", hidden_size: int, layout: int = 0";

// The outputs that the node has: y for all steps, then the last value of each state.
TensorExpr finish(const Recurrence& r, const std::vector<Operand>& collected,
                  const std::vector<std::vector<Operand>>& finals, size_t outputs) {
  static const char* const kNames[] = {"y_h", "y_c"};
  std::vector<Operand> results = {r.join_steps(collected)};
  for (size_t i = 0; i < finals.size() && results.size() < outputs; ++i)
    results.push_back(r.join_final(finals[i], kNames[i]));
  return r.b.finish(results);
}

// h' = f(x w^T + h r^T + bias)
TensorExpr define_rnn(OpContext& c) {
  Builder b;
  const Recurrence r(c, b, c.declare(b, {"x", "w", "r", "bias", "lengths", "initial_h"}), 1);
  const auto activations = activations_of(c, r.directions, {"Tanh"});
  std::vector<Operand> collected;
  std::vector<Operand> finals;
  for (size_t d = 0; d < r.directions; ++d) {
    const Operand x_part = r.input_part(d, r.hidden);
    const Operand init = r.initial(5, d, "h_init");
    const AxisId step = b.begin_scan("t", r.steps);
    const Operand h = b.carry("h", init);
    const Operand h_part = r.recurrent_part(d, h, 0, r.hidden, "h_part");
    const Scalar value = activations[d](r.read_part(x_part, d, step, r.h) + h_part(r.n, r.h));
    const Operand next = b.map("h_next", {r.n, r.h}, r.held(step, value, h(r.n, r.h)));
    b.set_next(h, next);
    collected.push_back(b.collect("hs", next));
    finals.push_back(b.final_value("h_last", h));
    b.end_scan();
  }
  return finish(r, collected, {finals}, c.output_count());
}

// z = f(x wz^T + h rz^T + bz),  q = f(x wr^T + h rr^T + br)
// v = g(x wh^T + (q h) rh^T + bh)  or, with linear_before_reset, g(x wh^T + q (h rh^T + rbh) + wbh)
// h' = (1 - z) v + z h
TensorExpr define_gru(OpContext& c) {
  Builder b;
  const Recurrence r(c, b, c.declare(b, {"x", "w", "r", "bias", "lengths", "initial_h"}), 3);
  const auto activations = activations_of(c, r.directions, {"Sigmoid", "Tanh"});
  const bool linear = c.int_attribute("linear_before_reset", 0) != 0;
  const Dim& size = r.hidden;
  std::vector<Operand> collected;
  std::vector<Operand> finals;
  for (size_t d = 0; d < r.directions; ++d) {
    const Activation& f = activations[2 * d];
    const Activation& g = activations[2 * d + 1];
    const Operand x_part = r.input_part(d, linear ? size * 2 : size * 3);
    const Operand init = r.initial(5, d, "h_init");
    const AxisId step = b.begin_scan("t", r.steps);
    const Operand h = b.carry("h", init);
    const auto gate = [&](const Operand& h_part, const Dim& row) {
      const Index at = Index(r.h) + Index(row);
      return r.read_part(x_part, d, step, at) + h_part(r.n, at);
    };
    const Operand gates_h = r.recurrent_part(d, h, 0, size * 2, "gates_h");
    const Operand z = b.map("z", {r.n, r.h}, f(gate(gates_h, 0)));
    const Operand q = b.map("q", {r.n, r.h}, f(gate(gates_h, size)));
    const Index row = Index(r.h) + Index(size * 2);
    Scalar inner = r.read_part(x_part, d, step, row);
    if (linear) {
      const Operand h_part = r.recurrent_part(d, h, size * 2, size, "h_part");
      inner = inner + q(r.n, r.h) * (h_part(r.n, r.h) + r.recurrent_bias(d, row));
    } else {
      const Operand reset = b.map("reset", {r.n, r.h}, q(r.n, r.h) * h(r.n, r.h));
      inner = inner + r.recurrent_part(d, reset, size * 2, size, "h_part")(r.n, r.h);
    }
    const Scalar value = (1 - z(r.n, r.h)) * g(inner) + z(r.n, r.h) * h(r.n, r.h);
    const Operand next = b.map("h_next", {r.n, r.h}, r.held(step, value, h(r.n, r.h)));
    b.set_next(h, next);
    collected.push_back(b.collect("hs", next));
    finals.push_back(b.final_value("h_last", h));
    b.end_scan();
  }
  return finish(r, collected, {finals}, c.output_count());
}

// The gates stand in the order i, o, f, c, the peepholes in the order i, o, f:
// i = f(x wi^T + h ri^T + pi c + bi),  j = f(x wf^T + h rf^T + pf c + bf)  (or 1 - i if coupled)
// c' = j c + i g(x wc^T + h rc^T + bc)
// o = f(x wo^T + h ro^T + po c' + bo),  h' = o k(c')
TensorExpr define_lstm(OpContext& c) {
  Builder b;
  const Recurrence r(
      c, b, c.declare(b, {"x", "w", "r", "bias", "lengths", "initial_h", "initial_c", "p"}), 4);
  const auto activations = activations_of(c, r.directions, {"Sigmoid", "Tanh", "Tanh"});
  const bool coupled = c.int_attribute("input_forget", 0) != 0;
  const Dim& size = r.hidden;
  std::vector<Operand> collected;
  std::vector<Operand> final_h;
  std::vector<Operand> final_c;
  for (size_t d = 0; d < r.directions; ++d) {
    const Activation& f = activations[3 * d];
    const Activation& g = activations[3 * d + 1];
    const Activation& k = activations[3 * d + 2];
    const Operand x_part = r.input_part(d, size * 4);
    const Operand init_h = r.initial(5, d, "h_init");
    const Operand init_c = r.initial(6, d, "c_init");
    const AxisId step = b.begin_scan("t", r.steps);
    const Operand h = b.carry("h", init_h);
    const Operand cell = b.carry("c", init_c);
    const Operand h_part = r.recurrent_part(d, h, 0, size * 4, "h_part");
    const auto gate = [&](int64_t number) {
      const Index at = Index(r.h) + Index(size * Dim(number));
      return r.read_part(x_part, d, step, at) + h_part(r.n, at);
    };
    const auto with_peephole = [&](const Scalar& sum, int64_t number, const Scalar& state) {
      if (!r.x[7].valid()) return sum;
      const Index at = Index(r.h) + Index(size * Dim(number));
      return sum + r.x[7](static_cast<int64_t>(d), at) * state;
    };
    const Scalar old = cell(r.n, r.h);
    const Operand in = b.map("i", {r.n, r.h}, f(with_peephole(gate(0), 0, old)));
    const Scalar forget = coupled ? 1 - in(r.n, r.h) : f(with_peephole(gate(2), 2, old));
    const Scalar cell_value = forget * old + in(r.n, r.h) * g(gate(3));
    const Operand cell_next = b.map("c_next", {r.n, r.h}, r.held(step, cell_value, old));
    const Scalar now = cell_next(r.n, r.h);
    const Scalar out = f(with_peephole(gate(1), 1, now));
    const Operand next = b.map("h_next", {r.n, r.h}, r.held(step, out * k(now), h(r.n, r.h)));
    b.set_next(h, next);
    b.set_next(cell, cell_next);
    collected.push_back(b.collect("hs", next));
    final_h.push_back(b.final_value("h_last", h));
    final_c.push_back(b.final_value("c_last", cell));
    b.end_scan();
  }
  return finish(r, collected, {final_h, final_c}, c.output_count());
}

}  // namespace

void register_recurrent(OperatorTable& table) {
  const std::string attributes = kRecurrentAttributes;
  table.add({.name = "RNN",
             .since = 7,
             .doc = "A simple recurrent layer, in one or both directions.",
             .inputs = "x, w, r, bias?, lengths?, initial_h?",
             .outputs = "y?, y_h?",
             .attributes = attributes,
             .define = define_rnn,
             .example = "RNN(x: f32[4, 2, 3], w: f32[1, 5, 3], r: f32[1, 5, 5])"});
  table.add({.name = "GRU",
             .since = 7,
             .doc = "A layer of gated recurrent units, in one or both directions.",
             .inputs = "x, w, r, bias?, lengths?, initial_h?",
             .outputs = "y?, y_h?",
             .attributes = attributes + ", linear_before_reset: int = 0",
             .define = define_gru,
             .example = "GRU(x: f32[4, 2, 3], w: f32[1, 15, 3], r: f32[1, 15, 5])"});
  table.add({.name = "LSTM",
             .since = 7,
             .doc = "A layer of long short-term memory cells, in one or both directions.",
             .inputs = "x, w, r, bias?, lengths?, initial_h?, initial_c?, p?",
             .outputs = "y?, y_h?, y_c?",
             .attributes = attributes + ", input_forget: int = 0",
             .define = define_lstm,
             .example = "LSTM(x: f32[4, 2, 3], w: f32[2, 20, 3], r: f32[2, 20, 5], "
                        "bias: f32[2, 40]) {direction = \"bidirectional\"}"});
}

}  // namespace hone
