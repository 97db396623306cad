//! What is said about each code. Data only.

use super::{Code, Entry};

/// Every kind of error, in the order of the codes.
pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownKey,
        title: "a key does not exist",
        what: "A scenario may only hold keys that mean something. A misspelt key would otherwise be \
               ignored in silence, and the answer would rest on a default that you never chose.",
        example: "speculation:\n  accept_lenght: 2.0",
        fix: "Take the suggested key, or look a key up with `specplan explain speculation.verify.time`.",
    },
    Entry {
        code: Code::WrongType,
        title: "a value is of the wrong kind",
        what: "A key takes one kind of value: a number, a word, true or false, a list or a map of further keys. Whole numbers are \
               written in decimal digits alone. \
               An empty value is no value: leave the line out to get the default.",
        example: "workload: { batch: many }",
        fix: "Write a value of the kind that the message names.",
    },
    Entry {
        code: Code::MissingUnit,
        title: "a unit is missing",
        what: "Times, sizes, bandwidths and throughputs are written with their unit. Servers print seconds, \
               milliseconds and microseconds for the same thing, so a bare number is never guessed at.",
        example: "speculation:\n  verify: { time: 30 }",
        fix: "Write the unit after the number: `30 ms`. A spread may follow: `\"30 ms +- 1 ms\"`.",
    },
    Entry {
        code: Code::WrongUnit,
        title: "a unit does not fit the key",
        what: "The unit is unknown, or it measures something else than the key: a size where a time is \
               expected, a unit behind a plain number. GB is 10^9 bytes, GiB is 2^30 bytes.",
        example: "speculation:\n  verify: { time: 30 GB }",
        fix: "Use one of the units that the message lists. Times: s, ms, us, µs, ns. Throughput: tok/s.",
    },
    Entry {
        code: Code::UnknownWord,
        title: "a word is not among the allowed ones",
        what: "Some keys take one of a few words, such as an execution mode or a runtime.",
        example: "baseline: { execution: graphs }",
        fix: "Use one of the words that the message lists.",
    },
    Entry {
        code: Code::OutOfRange,
        title: "a number is outside its range",
        what: "Counts are whole and at least 1, times lie between 1 ps and 1,000,000 s, throughputs between 0.001 and 10^9 tok/s, \
               probabilities between 0 and 1, accept lengths between 1 and 65, and a spread may not reach below zero. NaN and \
               infinity are never numbers here. Names and other texts are one line of printable letters.",
        example: "workload: { batch: 0 }",
        fix: "Write a number inside the range that the message names.",
    },
    Entry {
        code: Code::DuplicateKey,
        title: "a key stands twice in one map",
        what: "YAML forbids it, and which of the two values is meant cannot be known.",
        example: "workload: { batch: 1, batch: 8 }",
        fix: "Remove one of the two.",
    },
    Entry {
        code: Code::Syntax,
        title: "the file is not valid YAML",
        what: "The text cannot be read as YAML. Frequent reasons are a missing bracket, a tab used for indentation, \
               a missing space after a colon, or an alias to an anchor that does not exist. Tags (`!name`) mean nothing here.",
        example: "workload: { batch: 1",
        fix: "Look at the marked place and at the line before it.",
    },
    Entry {
        code: Code::Unreadable,
        title: "a file cannot be read",
        what: "The file does not exist, is a directory, a pipe or a device, is empty, may not be read, or is not UTF-8 text. Only a \
               scenario may come through a pipe, as `-`.",
        example: "specplan run scenarios/",
        fix: "Give the path of a scenario file.",
    },
    Entry {
        code: Code::TooLarge,
        title: "a file is too large to be a scenario",
        what: "A scenario is a page of text. Files over 1 MB, nesting deeper than 32 levels, more than 20,000 \
               values, and aliases that multiply are refused before they can use up time or memory.",
        example: "specplan run server.log",
        fix: "Check that the path is that of a scenario.",
    },
    Entry {
        code: Code::AcceptanceKind,
        title: "acceptance is described in no way or in several ways",
        what: "The accepted tokens follow from exactly one of accept_length, rate, mean_rate, conditional, \
               cumulative, histogram, tree or file. Two of them would have to agree, and none leaves the answer open.",
        example: "speculation:\n  acceptance: { accept_length: 2.0, rate: 0.6 }",
        fix: "Keep the one that you measured. Servers log accept_length (SGLang) or cumulative (vLLM).",
    },
    Entry {
        code: Code::AcceptLength,
        title: "an accept length is beyond what one verify pass can yield",
        what: "The accept length counts the tokens gained per verify pass and request, the bonus token included, \
               as SGLang and vLLM print it. It is at least 1, and at most the drafted chain plus one: steps + 1, which for a \
               chain (topk 1) is the number of rows verified.",
        example: "speculation:\n  draft_tokens: 4\n  acceptance: { accept_length: 5.5 }",
        fix: "Check which convention the number follows: some reports leave the bonus token out, and some count \
              several requests together.",
    },
    Entry {
        code: Code::DraftShape,
        title: "steps, topk and draft_tokens do not go together",
        what: "The names and rules are those of SGLang: draft_tokens counts the verified rows of a request, the root \
               included. With topk 1 it is steps + 1. With topk T > 1 the drafter offers a tree of at most \
               T + (steps - 1)·T² nodes beside the root. vLLM's num_speculative_tokens k is steps k, topk 1, draft_tokens k + 1.",
        example: "speculation: { steps: 2, topk: 1, draft_tokens: 4 }",
        fix: "Leave one of steps and draft_tokens out; it follows from the other where topk is 1.",
    },
    Entry {
        code: Code::TensorParallel,
        title: "the tensor-parallel size does not divide the attention heads",
        what: "Tensor parallelism gives each rank the same number of query heads, and key/value heads are either \
               divided evenly or repeated evenly. Servers refuse other sizes.",
        example: "model: llama-3.3-70b   # 64 heads\nparallel: { tensor: 6 }",
        fix: "Use a size that divides the heads: usually 1, 2, 4 or 8.",
    },
    Entry {
        code: Code::Memory,
        title: "the model does not fit into the memory of the GPUs",
        what: "Weights and the KV cache of the stated batch and context, divided as `parallel` says, exceed the memory of a GPU. \
               Nothing is kept back for activations, CUDA graphs and the runtime, for which servers reserve about a tenth: what fits \
               by less than that gets a note.",
        example: "hardware: rtx-4090-x2   # 2 x 24 GB\nmodel: llama-3.3-70b    # 141 GB in bf16",
        fix: "Use more GPUs, narrower weights (`model: { preset: llama-3.3-70b, weights: int4-g128 }`), an fp8 KV cache, \
              or a smaller batch or context.",
    },
    Entry {
        code: Code::Ranks,
        title: "more ranks than GPUs",
        what: "The parallel sizes ask for more GPUs than the hardware has.",
        example: "hardware: rtx-pro-6000-x4\nparallel: { tensor: 8 }",
        fix: "Reduce the sizes, or name larger hardware.",
    },
    Entry {
        code: Code::Probabilities,
        title: "probabilities that cannot be",
        what: "Each probability lies between 0 and 1. Cumulative acceptance never rises from one position to the next, \
               since a token is only accepted after those before it. The branches of a tree are exclusive: their probabilities add \
               up to at most 1. A list must reach as far as the draft: one value per drafted position.",
        example: "speculation:\n  acceptance: { cumulative: [0.65, 0.70, 0.24] }",
        fix: "Check the order of the values and whether they are conditional (each given that all before were accepted) \
              or cumulative (vLLM's log).",
    },
    Entry {
        code: Code::Parts,
        title: "observed parts are larger than their whole",
        what: "An observed total contains its parts: the all-reduces of a pass take no longer than the pass. A \
               verify pass longer than the cycle, which is batch · accept length / throughput, is no error of the file: the \
               answer names it as a finding (`throughput-contradicts-verify`).",
        example: "verify:\n  observed: { time: 20 ms, allreduce: { count: 122, total: 25 ms } }",
        fix: "Check that both were measured in the same run, per pass, and on one rank.",
    },
    Entry {
        code: Code::UnknownName,
        title: "a preset or file does not exist",
        what: "Hardware, calibration, model and draft are named by a preset or by the path of a file, relative to the \
               scenario. A name with a slash or an ending such as .json or .yaml is a path.",
        example: "model: kimi-k25",
        fix: "`specplan explain presets` lists the presets with their sources.",
    },
    Entry {
        code: Code::ExtendsCycle,
        title: "scenarios extend each other in a circle",
        what: "`extends` takes all keys of another scenario and lays the keys of this one over them. A scenario cannot extend \
               itself, directly or through others, and a chain ends after 16 files.",
        example: "# a.yaml\nextends: b.yaml\n# b.yaml\nextends: a.yaml",
        fix: "Put what is common into a file that extends nothing.",
    },
    Entry {
        code: Code::Incomplete,
        title: "something is missing without which nothing can be answered",
        what: "With hardware and a model every time can be predicted, and only the draft and its acceptance must be described. \
               Without them three observed numbers are needed: the throughput of the baseline, the accept length, and either \
               the throughput with speculation or the time of a verify pass.",
        example: "name: no numbers at all",
        fix: "Add the keys that the message names.",
    },
    Entry {
        code: Code::Contradiction,
        title: "two keys contradict each other",
        what: "`time` sets a part to a value that you suppose; `observed` says what was measured for exactly this \
               configuration. One part cannot be both. The same holds for two ways of saying one thing, and for a draft that \
               does not fit: an EAGLE-3 head of another hidden size than the model's, a draft model with another vocabulary, a \
               head where the method needs a whole model.",
        example: "verify:\n  time: 15 ms\n  observed: { time: 30 ms }",
        fix: "Keep what was measured, and put the supposition under `what_if`, or give it with `--set`.",
    },
    Entry {
        code: Code::ReferencedFile,
        title: "a file that the scenario names cannot be used",
        what: "The file was read, but it does not hold what the key needs: a Hugging Face config.json for `model` and `draft`, \
               a box for `hardware`, measured tables for `calibration`, an acceptance for `acceptance.file`.",
        example: "model: ./README.md",
        fix: "Name the right file; the message says what was missing in it.",
    },
    Entry {
        code: Code::Override,
        title: "an override cannot be used",
        what: "`--set` takes a key with dots, an equals sign and a value in YAML; `--unset` takes a key with dots. `KEY=null` \
               removes a key as `--unset` does, `KEY={}` empties a map, and a map with entries works like its keys with dots. An axis of \
               a sweep is `key=a,b,c`, `key=lo..hi:n` or `key=lo..hi:n:log`; ` & ` joins axes that go value by value. Keys are those of the \
               scenario file, and each has one axis. A what-if cannot vary what was observed, \
               and without hardware and model only times and the acceptance can.",
        example: "specplan run box.yaml --set speculation.verify.time",
        fix: "Write `--set 'speculation.verify.time=24 ms'` or `--unset speculation.observed`.",
    },
];
