// Counts of n-grams: sequences of tokens, looked up in a pool.
#include <algorithm>
#include <map>

#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

// The pool as a tree: a path of tokens from the root is an n-gram.
struct GramTree {
  struct Node {
    std::map<std::string, size_t> next;
    int64_t gram = -1;  // which n-gram ends here
  };
  std::vector<Node> nodes{1};

  void insert(std::span<const std::string> tokens, int64_t gram) {
    size_t at = 0;
    for (const std::string& token : tokens) {
      const auto [found, added] = nodes[at].next.try_emplace(token, nodes.size());
      const size_t next = found->second;
      if (added) nodes.emplace_back();
      at = next;
    }
    nodes[at].gram = gram;
  }
};

struct Settings {
  int64_t shortest, longest, most_skips;
  std::string mode;
  std::vector<int64_t> starts;   // where the n-grams of each length begin in the pool
  std::vector<int64_t> columns;  // per n-gram, its place in the output
  std::vector<float> weights;
  int64_t width = 0;
};

Settings settings_of(const OpContext& c) {
  Settings s{c.int_attribute("min_gram_length", 1), c.int_attribute("max_gram_length", 1),
             c.int_attribute("max_skip_count", 0),  c.string_attribute("mode", ""),
             c.ints_attribute("ngram_counts", {}),  c.ints_attribute("ngram_indexes", {}),
             c.floats_attribute("weights", {})};
  if (s.mode != "TF" && s.mode != "IDF" && s.mode != "TFIDF")
    throw_invalid("unknown mode \"" + s.mode + "\"", "TF, IDF or TFIDF");
  if (s.shortest < 1 || s.longest < s.shortest || s.most_skips < 0 || s.most_skips > (1 << 20))
    throw_invalid("lengths of n-grams are out of range");
  for (const int64_t column : s.columns) {
    if (column < 0 || column >= (1 << 28)) throw_invalid("ngram_indexes are out of range");
    s.width = std::max(s.width, column + 1);
  }
  if (!s.weights.empty() && static_cast<int64_t>(s.weights.size()) < s.width)
    throw_invalid("there are fewer weights than columns");
  return s;
}

std::vector<std::string> pool_of(const OpContext& c) {
  if (const auto at = c.attributes().find("pool_strings"); at != c.attributes().end())
    if (const auto* pool = std::get_if<std::vector<std::string>>(&at->second)) return *pool;
  std::vector<std::string> pool;
  for (const int64_t token : c.ints_attribute("pool_int64s", {}))
    pool.push_back(std::to_string(token));
  return pool;
}

GramTree tree_of(const Settings& s, const std::vector<std::string>& pool) {
  GramTree tree;
  int64_t gram = 0;
  for (size_t i = 0; i < s.starts.size(); ++i) {
    const auto length = static_cast<int64_t>(i) + 1;
    const int64_t begin = s.starts[i];
    const int64_t end =
        i + 1 < s.starts.size() ? s.starts[i + 1] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()))
      throw_invalid("ngram_counts are out of range");
    for (int64_t at = begin; at + length <= end; at += length, ++gram)
      if (length >= s.shortest && length <= s.longest)
        tree.insert({pool.data() + at, static_cast<size_t>(length)}, gram);
  }
  if (gram > static_cast<int64_t>(s.columns.size()))
    throw_invalid("there are fewer ngram_indexes than n-grams");
  return tree;
}

// Adds the n-grams of one row whose tokens stand 1, 2, ... apart; single tokens count once.
void count_row(const Settings& s, const GramTree& tree, std::span<const std::string> row,
               std::span<double> counts) {
  int64_t shortest = s.shortest;
  const auto size = static_cast<int64_t>(row.size());
  for (int64_t apart = 1; apart <= std::min(s.most_skips + 1, size + 1); ++apart) {
    for (int64_t start = 0; start < size; ++start) {
      size_t node = 0;
      int64_t length = 1;
      for (int64_t at = start; at < size && length <= s.longest; at += apart, ++length) {
        const auto next = tree.nodes[node].next.find(row[static_cast<size_t>(at)]);
        if (next == tree.nodes[node].next.end()) break;
        node = next->second;
        const int64_t gram = tree.nodes[node].gram;
        if (length >= shortest && gram >= 0)
          counts[static_cast<size_t>(s.columns[static_cast<size_t>(gram)])] += 1;
      }
    }
    if (shortest == 1 && ++shortest > s.longest) break;
  }
}

std::vector<Buffer> run_tfidf(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  if (x.rank() > 2) throw_invalid("the input must be [C] or [B, C]");
  const Settings s = settings_of(c);
  const GramTree tree = tree_of(s, pool_of(c));
  const int64_t rows = x.rank() == 2 ? x.dims()[0] : 1;
  const int64_t length = x.rank() == 0 ? 1 : x.dims().back();
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < x.count(); ++i)
    tokens.push_back(x.type() == ElementType::kString ? x.strings()[static_cast<size_t>(i)]
                                                      : std::to_string(x.as_int(i)));
  std::vector<int64_t> dims = {s.width};
  if (x.rank() == 2) dims.insert(dims.begin(), rows);
  Buffer result = Buffer::allocate(ElementType::kF32, dims);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> counts(static_cast<size_t>(s.width), 0);
    count_row(s, tree, {tokens.data() + r * length, static_cast<size_t>(length)}, counts);
    for (int64_t k = 0; k < s.width; ++k) {
      const auto column = static_cast<size_t>(k);
      double value = counts[column];
      if (s.mode == "IDF") value = value > 0 ? 1 : 0;
      if (s.mode != "TF" && !s.weights.empty()) value *= s.weights[column];
      result.as_mutable<float>()[static_cast<size_t>(r * s.width + k)] = static_cast<float>(value);
    }
  }
  return {result};
}

std::vector<TensorType> infer_tfidf(OpContext& c) {
  Shape shape = {settings_of(c).width};
  if (c.rank(0) == 2) shape.insert(shape.begin(), c.dim(0, 0));
  return {{ElementType::kF32, shape}};
}

}  // namespace

void register_tfidf(OperatorTable& table) {
  table.add({.name = "TfIdfVectorizer",
             .since = 9,
             .doc = "Counts or weights of the n-grams of a pool, as they occur in each row.",
             .inputs = "x",
             .attributes = "max_gram_length: int, max_skip_count: int, min_gram_length: int, "
                           "mode: string, ngram_counts: ints, ngram_indexes: ints, "
                           "pool_int64s: ints, pool_strings: strings, weights: floats",
             .opaque_reason = "a look-up of n-grams has no expression form",
             .kernel = run_tfidf,
             .infer = infer_tfidf,
             .example = "TfIdfVectorizer(x: i64[6]) {mode = \"TF\", min_gram_length = 1, "
                        "max_gram_length = 2, max_skip_count = 0, ngram_counts = [0, 2], "
                        "ngram_indexes = [0, 1, 2], pool_int64s = [1, 2, 1, 2]}"});
}

}  // namespace hone
