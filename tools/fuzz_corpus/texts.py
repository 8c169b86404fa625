"""Texts for the parsers: expressions, dimensions, models, operator files; right and wrong."""

TEXTS = {
    "softmax": """(x: f32[N, K]) -> (y) {
  m: f32[o < N] = max[k < K] x[o, k]
  s: f32[o < N] = sum[k < K] exp(x[o, k] - m[o])
  y: f32[o < N, i < K] = exp(x[o, i] - m[o]) / s[o]
}
""",
    "matmul": "(a: f32[M, K], b: f32[K, N]) -> (c) { c: f32[i < M, j < N] = sum[k < K] a[i, k] * b[k, j] }\n",
    "dim": "2*N + H/2 - 1\n",
    "dim_nested": "max(N % 3, min(H / (K + 1), 7*N*N)) - 4611686018427387904\n",
    "dim_overflow": "9223372036854775807*N*9223372036854775807\n",
    "dim_division": "N / 0 + 0 / 0 % 0\n",
    "dim_deep": "(" * 300 + "N" + ")" * 300 + "\n",
    "literals": "(x: f64[]) -> (y) { y: f64[] = x[] * 1e-400 + 5p-20 - 1e400 + 0.1 }\n",
    "huge_literal": "(x: f64[]) -> (y) { y: f64[] = x[] * 1e999999999 + 1p999999999 }\n",
    "model": """model {ir_version = 8, opset = 17, opset "com.microsoft" = 1, meta "author" = "me"}
graph main(%x: f32[N, 3]) -> (%y) {
  const %w: f32[3, 2] = [1.0, 2.0, -0.0, 1e-30, 4.0, 5.0]
  const %axes: i64[1] = [1]
  %h: f32[N, 2] = MatMul(%x, %w)
  %y: f32[N, 2] = Relu(%h) {} @ {name = "relu"}
  %z: f32[2] = inline (x: f32[N, 2]) -> (s) { s: f32[j < 2] = sum[i < N] x[i, j] } (%y)
}
""",
    "model_subgraph": """model {ir_version = 8, opset = 17}
graph main(%c: bool[], %x: f32[2]) -> (%y) {
  %y: f32[2] = If(%c) {then_branch = graph t() -> (%a) { outer %x: f32[2] %a: f32[2] = Neg(%x) },
    else_branch = graph e() -> (%b) { outer %x: f32[2] %b: f32[2] = Abs(%x) }}
}
""",
    "model_attributes": """model {ir_version = 8, opset = 17, opset "d" = 1}
graph `odd name`(%`a b`: f32[?], %q: ?, %s: opaque "\\x0a\\x00") -> (%y, %y) {
  about {doc = "d", meta "k" = "v"}
  %y: ?, _ = "d"::`Odd op`(%`a b`, _, %q) {a = 1, b = 1.5, c = "s", d = [1, 2], e = [1.0, nan, -inf],
    f = ["s", "t"], g = ints[], h = floats[], i = strings[], j = tensor i64[2] = [1, 2],
    k = tensors[tensor f32[] = [1.0]], l = dims[N, 2*K], m = opaque "\\xff", n = graphs[]}
    @ {name = "n", overload = "o", doc = "x", meta "k" = "v", origin = "p"}
  about %y {doc = "value"}
}
""",
    "model_huge_dims": """model {ir_version = 8, opset = 17}
graph g(%x: f32[4611686018427387904, 4611686018427387904]) -> (%y) {
  const %s: i64[2] = [4611686018427387904, -1]
  %y: f32[N] = Reshape(%x, %s)
}
""",
    "model_undefined": "model {ir_version = 8, opset = 17}\ngraph g() -> (%y) { %y: f32[2] = Neg(%z) }\n",
    "model_twice": "model {opset = 17}\ngraph g(%x: f32[2], %x: f32[2]) -> (%x) { }\n",
    "model_data": "model {opset = 17}\ngraph g() -> (%x) { const %x: f32[2] = data 99999999999 }\n",
    "model_constant_count": "model {opset = 17}\ngraph g() -> (%x) { const %x: i8[9999999999, 9999999999] = [1] }\n",
    "operators": """# Scaled swish.
op my.domain::Swish(x: T[i..]) -> (y) {
  attr beta: float = 1.0
  y: T[i..] = x[i..] / (1 + exp(-beta * x[i..]))
}
example my.domain::Swish(x: f32[2, 3]) {beta = 2.0}
""",
    "operator_attributes": """op d::Pick(x: T[n, k], i: i64[m]) -> (y) where n == m "rows" {
  attr mode: string = "sum"
  attr steps: ints = [1, 2]
  y: T[r < m] = sum[c < k] select(mode == "sum", x[i[r], c], T(0)) * T(steps[0])
}
""",
    "index_arithmetic": """(x: f32[N, 10, H], idx: i64[M]) -> (y) {
  itable t = [0, -1, 1]
  y: f32[n < N, i < 3, u < M] = sum[r < R] x[n/2 + (i + 2*r)%3, t[i] - 1, S*i + (D + 1)*r - P | 0] + x[min(n, i), idx[u], 2*(i/2) + max(i, 2*r)]
}
""",
    "literals_and_logic": """(x: f32[N], q: u8[N]) -> (y, z) {
  table w = [1/2, 3]
  y: f32[i < N] = x[i] * (1/3) + 5p-20 - (-2) / max(x[i], 0) + (-inf) * x[i] + w[i%2]
  z: bool[i < N] = x[i] < 1 and not(q[i] == 3) or is_nan(f32(q[i]))
}
""",
    "scatter": """(x: f32[N], idx: i64[M], upd: f32[L]) -> (y) where M == L "update counts", N == 2*M {
  y: f32[i < N] = x[i] * $alpha:f32
    scatter add[u < M] [idx[u]] <- upd[u]
}
""",
    "scan": """(x: f32[T, H], h0: f32[H]) -> (hs, hN) {
  scan t < T {
    carry h: f32[H] = h0
    h1: f32[i < H] = tanh(h[i] + x[t, i])
    final hN = h
    collect hs = h1
    next h = h1
  }
}
""",
    "scan_without_next": "(x: f32[3]) -> (y) { scan t < 3 { carry h: f32[3] = x final y = h } }\n",
    "arg_max": "(x: f32[N, 4]) -> (y) { y: i64[i < N] = argmax[j < 4] x[i, j] }\n",
    "wrong_ranks": "(x: f32[N, 4]) -> (y) { y: f32[i < N] = x[i] + x[i, 0, 0] }\n",
    "division_by_zero": "(x: f32[N]) -> (y) { y: f32[i < N/0] = x[i%0] / 0 + 1/0 }\n",
    "overflowing_index": "(x: f32[N]) -> (y) { y: f32[i < 4] = x[9223372036854775807*i + 9223372036854775807*i] }\n",
    "unterminated_string": 'model {doc = "abc',
    "unterminated_name": "(`abc",
    "bad_escape": 'model {doc = "\\q\\x0"}',
    "bytes": "\x00\x01\xff\u20ac (x: f32[N])",
    "empty": "",
    "comment": "# nothing but a comment",
    "deep_parentheses": "(x: f32[]) -> (y) { y: f32[] = " + "(" * 500 + "x[]" + ")" * 500 + " }\n",
    "deep_unary": "(x: f32[]) -> (y) { y: f32[] = " + "-" * 2000 + "x[] }\n",
    "deep_graphs": "model {opset = 17}\n" + "graph g() -> () { _ = If() {b = " * 90,
    "long_sum": "(x: f32[]) -> (y) { y: f32[] = x[]" + " + x[]" * 500 + " }\n",
}
