# The steps of .ci/run by name. `just` lists them; `just ci` runs all.

_default:
    @just --list

# Everything that must pass before a change is merged
ci:
    .ci/run

# Format the source
fmt:
    cargo fmt

# Clippy, warnings denied, with the minimum supported Rust version
lint:
    cargo clippy --locked --all-targets -- -D warnings -D clippy::incompatible_msrv

# All tests
test:
    cargo test --locked

# API documentation, warnings denied
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps

# Faults in the scenarios and calibrations of the repository
check:
    cargo run --locked --release -- check scenarios/*.yaml calibration/*.yaml

# Benchmarks
bench:
    cargo bench --locked

# Write every generated file again: schema, reference pages, validation table, figures
regenerate:
    .ci/regenerate

# Run the command blocks of the documentation and write their output beside them
doc-output:
    PATH="${CARGO_TARGET_DIR:-$PWD/target}/release:$PATH" .ci/doc-commands --update README.md $(find docs -name '*.md')
