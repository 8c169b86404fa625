# The few commands one needs. `make test` and `make demo` set up everything by themselves.
.PHONY: build test test-all demo bench bench-native bench-kernels bench-peers fuzz format clean bootstrap
.DEFAULT_GOAL := build

FUZZ_SECONDS ?= 20
FUZZ_RUNS ?= 10000
jobs := $(shell nproc)

bootstrap:
	@tools/bootstrap

# Configure only when there is no build yet: Ninja runs CMake again when it has to.
build/%/build.ninja: | bootstrap
	cmake --preset $*

build: bootstrap build/release/build.ninja
	cmake --build build/release

demo: bootstrap build/release/build.ninja
	@cmake --build build/release --target hone
	@tools/demo

# Everything a change must pass: fuzz targets for a bounded time, then all tests.
test: build build/fuzz/build.ninja
	cmake --build build/fuzz --target fuzz_targets
	HONE_FUZZ_RUNS=$(FUZZ_RUNS) tools/fuzz_smoke $(FUZZ_SECONDS)
	ctest --test-dir build/release -L 'fast|slow' -j $(jobs) --output-on-failure

# And what takes longer: the fast tests under sanitizers, clang-tidy, longer fuzzing.
test-all: test build/asan/build.ninja build/tidy/build.ninja
	cmake --build build/asan
	ctest --test-dir build/asan -L fast -j $(jobs) --output-on-failure
	cmake --build build/tidy
	tools/fuzz_smoke 600

bench: build
	@if [ -x build/release/bench/hone_bench ]; then build/release/bench/hone_bench; \
	else echo "bench: no benchmarks yet"; fi

# All models as native code: exactness, repeatability, compile time and memory, with their limits.
bench-native: build
	tools/bench_python bench/native.py

# Single kernels beside the machine's peak and bandwidth.
bench-kernels: build
	tools/bench_python bench/kernels.py

# hone beside ONNX Runtime, OpenVINO and MNN on all models; half an hour.
bench-peers: build
	bench/peers/run

fuzz: bootstrap build/fuzz/build.ninja
	cmake --build build/fuzz --target fuzz_targets
	tools/fuzz_smoke 300

format:
	tools/check_format --fix

clean:
	rm -rf build
