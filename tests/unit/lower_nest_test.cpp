// Axes of nests can be changed without changing what the nest computes.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "helpers/nests.h"
#include "lower/nest.h"

namespace hone::testing {
namespace {

constexpr int kNests = 150;

// Random nests compute the same before and after `change`.
template <typename Change>
void expect_same_meaning(Change change) {
  std::mt19937_64 random(7);
  for (int i = 0; i < kNests; ++i) {
    const Kernel kernel = random_nest(random);
    Kernel changed = kernel;
    changed.nests[0] = change(kernel.nests[0], random);
    EXPECT_EQ(changed.nests[0].points(), kernel.nests[0].points());
    const std::vector<float> wanted = run_kernel(kernel, plain_schedule(kernel));
    ASSERT_FALSE(wanted.empty());
    ASSERT_EQ(run_kernel(changed, plain_schedule(changed)), wanted) << to_text(kernel) << "became\n"
                                                                    << to_text(changed);
  }
}

TEST(Nest, SimplifyingKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto&) { return simplify(nest); });
}

TEST(Nest, DroppingUnitAxesKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto& random) {
    const size_t keep = random() % 2;
    Nest result = drop_unit_axes(nest, keep);
    for (size_t i = keep; i < result.extents.size(); ++i) EXPECT_NE(result.extents[i], 1);
    return result;
  });
}

TEST(Nest, SplittingOneAxisKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto& random) {
    const size_t axis = random() % nest.extents.size();
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= nest.extents[axis]; ++d)
      if (nest.extents[axis] % d == 0) divisors.push_back(d);
    Nest result = split_axis(nest, axis, divisors[random() % divisors.size()]);
    EXPECT_EQ(result.extents.size(), nest.extents.size() + 1);
    return result;
  });
}

TEST(Nest, SplittingAxesKeepsTheMeaning) {
  expect_same_meaning(
      [](const Nest& nest, auto& random) { return split_axes(nest, random() % 2); });
}

TEST(Nest, JoiningAxesKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto& random) {
    return join_axes(random() % 2 == 0 ? nest : drop_unit_axes(nest), random() % 2);
  });
}

TEST(Nest, FlatteningTwoAxesKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto& random) {
    if (nest.outputs < 2) return nest;
    const size_t a = random() % nest.outputs;
    const size_t b = (a + 1 + random() % (nest.outputs - 1)) % nest.outputs;
    return flatten_axes(nest, a, b);
  });
}

TEST(Nest, ReorderingKeepsTheMeaning) {
  expect_same_meaning([](const Nest& nest, auto& random) {
    std::vector<size_t> order(nest.extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto first_reduction = order.begin() + static_cast<std::ptrdiff_t>(nest.outputs);
    std::shuffle(order.begin(), first_reduction, random);
    std::shuffle(first_reduction, order.end(), random);
    return reorder(nest, order);
  });
}

TEST(Nest, ChangesOnTopOfEachOtherKeepTheMeaning) {
  expect_same_meaning(
      [](const Nest& nest, auto&) { return join_axes(split_axes(drop_unit_axes(nest))); });
}

// A map over a dense tensor whose read goes through quotients and remainders.
Nest through_quotients() {
  Nest nest;
  nest.extents = {4, 6};
  nest.outputs = 2;
  const Index row = AxisId{0}, column = AxisId{1};
  const Index at = row * Dim(6) + floor_div(column, 3) * Dim(3) + mod(column, 3);
  nest.stores.push_back({1, row * Dim(6) + column, Scalar::read(ElementType::kF32, 0, {at})});
  return nest;
}

TEST(Nest, SplitsUntilQuotientsAreGoneAndJoinsWhatIsOne) {
  const Nest split = split_axes(through_quotients());
  ASSERT_EQ(split.extents, (std::vector<int64_t>{4, 2, 3}));
  for (const FlatRead& read : reads_of(split)) EXPECT_TRUE(is_linear(read.at));
  const Nest joined = join_axes(split);
  ASSERT_EQ(joined.extents, (std::vector<int64_t>{24}));
  EXPECT_EQ(stride_of(joined.stores[0].at, 0), 1);
}

TEST(Nest, DoesNotJoinAcrossAGap) {
  Nest nest = through_quotients();
  nest.stores[0].at = Index(AxisId{0}) * Dim(7) + Index(AxisId{1});
  EXPECT_EQ(join_axes(split_axes(nest)).extents, (std::vector<int64_t>{4, 6}));
}

TEST(Nest, DoesNotJoinOutputsWithReductions) {
  const Kernel kernel = matmul_kernel(3, 4, 5);
  EXPECT_EQ(join_axes(kernel.nests[0]).extents, kernel.nests[0].extents);
}

TEST(Nest, ListsReadsWithWhatGuardsThem) {
  Nest nest = through_quotients();
  const Scalar guarded = Scalar::read(ElementType::kF32, 2, {Index(AxisId{1})});
  nest.stores[0].value =
      nest.stores[0].value + select(less(Index(AxisId{1}), Index(2)), guarded, Literal(0));
  const std::vector<FlatRead> reads = reads_of(nest);
  ASSERT_EQ(reads.size(), 2U);
  const auto guard = std::ranges::find(reads, 2, &FlatRead::tensor);
  ASSERT_NE(guard, reads.end());
  EXPECT_TRUE(guard->guarded);
  EXPECT_FALSE(std::ranges::find(reads, 0, &FlatRead::tensor)->guarded);
}

}  // namespace
}  // namespace hone::testing
