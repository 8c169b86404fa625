// What the recurrent operators RNN, GRU and LSTM share: activations, directions, and the scan over
// the steps of a sequence.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

// An activation with its parameters bound.
using Activation = std::function<Scalar(const Scalar&)>;

// The activations of one direction after the other, `defaults` of them each. The attribute's
// alphas and betas are taken in order by those functions that have such a parameter. With `clip`,
// what enters a function is first limited to [-clip, clip].
[[nodiscard]] std::vector<Activation> activations_of(const OpContext& c, size_t directions,
                                                     const std::vector<std::string>& defaults);

// A node of one of the recurrent operators; inputs x, w, r, bias?, lengths?, initial_h?, ...
struct Recurrence {
  Recurrence(const OpContext& c, Builder& b, std::vector<Operand> operands, size_t gates);

  Builder& b;
  std::vector<Operand> x;  // operands by input number; invalid where absent
  ElementType type;
  size_t directions;
  bool reverse_first;  // direction 0 runs backwards
  bool batch_first;    // layout = 1
  Dim steps, batch, inputs, hidden;
  AxisId n, h;  // axes of the state [batch, hidden]

  [[nodiscard]] bool reversed(size_t direction) const { return direction == 1 || reverse_first; }
  // The first value of a state: input `i`, or zeros.
  [[nodiscard]] Operand initial(size_t i, size_t direction, const std::string& name) const;
  // sum_i x[t, n, i] * w[direction, g, i] + bias, for all steps at once: [steps, batch, gates].
  // Rows below `recurrent_bias_until` get the recurrent bias too; the others have it added
  // elsewhere.
  [[nodiscard]] Operand input_part(size_t direction, const Dim& recurrent_bias_until) const;
  // The recurrent bias of row `gate`; 0 without a bias.
  [[nodiscard]] Scalar recurrent_bias(size_t direction, const Index& gate) const;
  // sum_k state[n, k] * r[direction, gate, k] over the rows [first, first + count): [batch, count]
  [[nodiscard]] Operand recurrent_part(size_t direction, const Operand& state, const Dim& first,
                                       const Dim& count, const std::string& name) const;
  // The time that step `step` of a direction looks at, and whether the sequence is still running.
  [[nodiscard]] Index time_of(size_t direction, AxisId step) const;
  [[nodiscard]] Scalar running(AxisId step) const;  // invalid: always
  // A gate's row of `part` [steps, batch, gates] at the step's time; anything past the end.
  [[nodiscard]] Scalar read_part(const Operand& part, size_t direction, AxisId step,
                                 const Index& row) const;
  // After the end of its sequence a state keeps its value.
  [[nodiscard]] Scalar held(AxisId step, const Scalar& next, const Scalar& state) const;

  // Joins the directions: y [steps, directions, batch, hidden] from the collected states, or
  // y_h [directions, batch, hidden] from the final ones; batch first if so laid out.
  [[nodiscard]] Operand join_steps(const std::vector<Operand>& collected) const;
  [[nodiscard]] Operand join_final(const std::vector<Operand>& finals,
                                   const std::string& name) const;

 private:
  size_t gates_;
};

}  // namespace hone
