//! Configurations as users have them, and faults that name their field.

use proptest::prelude::*;

use super::*;
use crate::model::{Attention, Draft, Ffn, preset};

const SMALL: &str = r#"{
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 32000, "intermediate_size": 14336, "max_position_embeddings": 8192 }"#;

fn with(change: &str, to: &str) -> String {
    assert!(SMALL.contains(change), "{change} is in the configuration");
    SMALL.replace(change, to)
}

fn parse(json: &str) -> Result<Model, ConfigError> {
    parse_config("test", json, FormatOverrides::default())
}

#[test]
fn equal_neighbours_are_one_group() {
    let model = parse(SMALL).expect("a Llama");
    assert_eq!(model.layers.len(), 1);
    assert_eq!(model.layers[0].count, 2);
    assert_eq!(model.notes, Vec::<String>::new());
}

#[test]
fn a_missing_field_is_named_with_what_it_is_needed_for() {
    for (field, key) in [
        (r#""hidden_size": 4096,"#, "hidden_size"),
        (r#""num_hidden_layers": 2,"#, "num_hidden_layers"),
        (r#""num_attention_heads": 32,"#, "num_attention_heads"),
        (r#""vocab_size": 32000,"#, "vocab_size"),
        (r#""intermediate_size": 14336,"#, "intermediate_size"),
    ] {
        match parse(&with(field, "")) {
            Err(ConfigError::Missing { field, .. }) => assert_eq!(field, key),
            other => panic!("{key}: {other:?}"),
        }
    }
}

#[test]
fn faulty_values_are_named() {
    for (from, to, text) in [
        ("4096", "\"wide\"", "`hidden_size` must be a whole number, not a text"),
        ("4096", "0", "`hidden_size` is 0, but must be at least 1"),
        ("4096", "-1", "`hidden_size` must be a whole number, not -1"),
        ("4096", "99999999999", "`hidden_size` is 99999999999, but must be at most 1000000"),
        (": 8,", ": 7,", "`num_key_value_heads` is 7, but must be a divisor of 32 query heads"),
    ] {
        assert_eq!(parse(&with(from, to)).expect_err(to).to_string(), text);
    }
    assert!(matches!(parse("{\"a\": 1,}"), Err(ConfigError::Syntax { line: 1, .. })));
    assert_eq!(parse("[]").expect_err("a list"), ConfigError::NotAnObject { found: "a list" });
}

#[test]
fn an_unknown_type_is_read_with_a_note() {
    let model = parse(&with("\"llama\"", "\"brand_new\"")).expect("readable");
    assert_eq!(model.notes.len(), 1);
    assert!(model.notes[0].contains("`brand_new`"), "{}", model.notes[0]);
    let bare = parse(&with(r#""model_type": "llama","#, "")).expect("readable");
    assert_eq!(bare.notes.len(), 1);
}

#[test]
fn kinds_that_decide_what_the_rest_means_are_checked() {
    let field = |key: &str, value: &str| with("}", &format!(r#", "{key}": {value} }}"#));
    for key in ["quantization_config", "text_config"] {
        for (value, found) in
            [("\"fp8\"", "a text"), ("8", "8"), ("[]", "a list"), ("true", "a flag"), ("false", "a flag")]
        {
            let text = format!("`{key}` must be an object, not {found}");
            assert_eq!(parse(&field(key, value)).expect_err(value).to_string(), text);
        }
        assert!(parse(&field(key, "null")).is_ok());
    }
    let overrides = FormatOverrides { weights: Some(WeightFormat::Fp8), kv: None };
    assert!(parse_config("test", &field("quantization_config", "3"), overrides).is_err());
    assert!(parse_draft_config("test", &field("quantization_config", "[]")).is_err());
    for (key, value, text) in [
        ("torch_dtype", "16", "`torch_dtype` must be a text, not 16"),
        ("dtype", "{}", "`dtype` must be a text, not an object"),
        ("quantization_config", "{\"quant_method\": 8}", "`quant_method` must be a text, not 8"),
        ("max_position_embeddings", "1", "`max_position_embeddings` is 1, but must be at least 2"),
        ("max_position_embeddings", "0", "`max_position_embeddings` is 0, but must be at least 2"),
        ("layer_types", "[\"full_attention\", 3]", "`layer_types[1]` must be a text, not 3"),
        (
            "layer_types",
            "[\"full_attention\", \"ful_attention\"]",
            "`layer_types[1]` is \"ful_attention\", but must be one of full_attention, sliding_attention, \
             chunked_attention, linear_attention; did you mean `full_attention`?",
        ),
    ] {
        let json = field(key, value).replace(r#""max_position_embeddings": 8192 ,"#, r#""x": 0,"#);
        assert_eq!(parse(&json).expect_err(text).to_string(), text);
    }
    let typed = parse(&with("\"llama\"", "[\"llama\"]")).expect_err("a list");
    assert_eq!(typed.to_string(), "`model_type` must be a text, not a list");
    let float8 = parse(&field("torch_dtype", "\"float8_e4m3fn\"")).expect("readable");
    assert!(float8.notes.iter().any(|note| note.contains("`float8_e4m3fn`")), "{:?}", float8.notes);
    assert_eq!(
        parse(&field("torch_dtype", "\"torch.float32\"")).expect("fp32").head_weights,
        WeightFormat::Fp32
    );
}

#[test]
fn a_mark_before_the_text_is_passed_over_and_a_key_stands_once() {
    assert_eq!(parse(&format!("\u{feff}{SMALL}")), parse(SMALL));
    let twice = with("\"vocab_size\": 32000", "\"vocab_size\": 32000, \"hidden_size\": 8192");
    let text = parse(&twice).expect_err("twice").to_string();
    assert!(
        text.starts_with("line 3, column ")
            && text.ends_with("the key `hidden_size` stands twice in one object")
    );
    assert_eq!(text.matches("line").count(), 1);
}

#[test]
fn experts_and_latent_attention_are_not_guessed_away() {
    let routed = |experts: &str| with("}", &format!(r#", {experts} "num_experts_per_tok": 8 }}"#));
    for experts in ["", "\"num_experts\": null,"] {
        let missing = parse(&routed(experts)).expect_err("undecided");
        assert!(missing.to_string().starts_with("`n_routed_experts` or `num_experts` or"), "{missing}");
    }
    let none = parse(&routed("\"num_experts\": 0,")).expect("dense, as stated");
    assert!(matches!(none.layers[0].layer.ffn, Ffn::Dense { .. }));
    assert!(none.notes[0].contains("0 experts"), "{:?}", none.notes);
    for json in [
        with("\"llama\"", "\"deepseek_v3\""),
        with("}", r#", "kv_lora_rank": null, "qk_nope_head_dim": 128 }"#),
    ] {
        match parse(&json) {
            Err(ConfigError::Missing { field, .. }) => assert_eq!(field, "kv_lora_rank"),
            other => panic!("{other:?}"),
        }
    }
    let grouped =
        |groups: &str| with("}", &format!(r#", "num_experts": 64, "num_experts_per_tok": 8, {groups} }}"#));
    for (groups, text) in [
        (r#""n_group": -8"#, "`n_group` must be a whole number, not -8"),
        (r#""n_group": 7"#, "`n_group` is 7, but must be a divisor of 64 experts"),
        (r#""n_group": 8, "topk_group": 9"#, "`topk_group` is 9, but must be at most `n_group`, 8"),
        (r#""mlp_only_layers": [-1]"#, "`mlp_only_layers` must be a list of layer numbers, not -1"),
    ] {
        assert_eq!(parse(&grouped(groups)).expect_err(groups).to_string(), text);
    }
    assert!(parse(&grouped(r#""n_group": 8, "topk_group": 4"#)).is_ok());
}

#[test]
fn every_number_has_a_limit() {
    for (from, key, limit) in [
        ("4096", "hidden_size", 1_000_000_u64),
        (": 2,", "num_hidden_layers", 10_000),
        (": 32,", "num_attention_heads", 100_000),
        ("32000", "vocab_size", 100_000_000),
        ("14336", "intermediate_size", 1 << 24),
        ("8192", "max_position_embeddings", 1_000_000_000),
    ] {
        let to = if from.starts_with(':') { format!(": {},", limit + 1) } else { (limit + 1).to_string() };
        let text = format!("`{key}` is {}, but must be at most {limit}", limit + 1);
        assert_eq!(parse(&with(from, &to)).expect_err(key).to_string(), text);
    }
    let largest = r#"{ "model_type": "mixtral", "hidden_size": 1000000, "num_hidden_layers": 10000,
        "num_attention_heads": 100000, "num_key_value_heads": 100000, "head_dim": 160, "vocab_size": 100000000,
        "intermediate_size": 16777216, "num_local_experts": 100000, "num_experts_per_tok": 100000,
        "max_position_embeddings": 1000000000 }"#;
    let size = crate::model::footprint(&parse(largest).expect("within the limits"));
    assert!(size.total_parameters.is_finite() && size.resident.is_finite() && size.kv_per_token.is_finite());
}

#[test]
fn an_unknown_quantisation_is_an_error_that_an_override_cures() {
    let json = with("}", r#", "quantization_config": {"quant_method": "hqq"} }"#);
    assert!(matches!(parse(&json), Err(ConfigError::UnknownQuantisation { .. })));
    let overrides =
        FormatOverrides { weights: Some(WeightFormat::Int4 { group: 64 }), kv: Some(KvFormat::Fp8) };
    let model = parse_config("test", &json, overrides).expect("the width is stated");
    let Ffn::Dense { weights, .. } = model.layers[0].layer.ffn else { panic!("dense") };
    assert_eq!(weights, WeightFormat::Int4 { group: 64 });
    assert_eq!((model.head_weights, model.kv), (WeightFormat::Bf16, KvFormat::Fp8));
}

#[test]
fn kimi_stores_only_routed_experts_in_int4() {
    let model = preset("kimi-k2.5").expect("preset");
    assert_eq!(model.layers.iter().map(|g| g.count).collect::<Vec<_>>(), [1, 60]);
    let Attention::Mla(mla) = &model.layers[1].layer.attention else { panic!("latent attention") };
    let Ffn::Moe(moe) = &model.layers[1].layer.ffn else { panic!("experts") };
    let Ffn::Dense { weights, .. } = model.layers[0].layer.ffn else { panic!("dense") };
    assert_eq!(
        (mla.weights, weights, moe.shared_weights),
        (WeightFormat::Bf16, WeightFormat::Bf16, WeightFormat::Bf16)
    );
    assert_eq!(
        (moe.expert_weights, moe.router_weights),
        (WeightFormat::Int4 { group: 32 }, WeightFormat::Bf16)
    );
}

#[test]
fn mixers_follow_layer_types_and_intervals() {
    let kinds = |name: &str| -> Vec<char> {
        let layers = preset(name).expect(name).layers;
        let kind = |attention: &Attention| match attention {
            Attention::Gqa(g) if g.window.is_some() => 'w',
            Attention::Gqa(_) => 'f',
            Attention::Linear(_) => 'l',
            Attention::Mla(_) => 'm',
        };
        layers.iter().flat_map(|g| vec![kind(&g.layer.attention); g.count as usize]).collect()
    };
    for (name, start) in
        [("gpt-oss-120b", "wfwf"), ("qwen3-next-80b-a3b", "lllflllf"), ("qwen3.5-397b-a17b", "lllf")]
    {
        let found: String = kinds(name).into_iter().take(start.len()).collect();
        assert_eq!(found, start, "{name}");
    }
    assert_eq!(kinds("qwen3.5-397b-a17b").iter().filter(|k| **k == 'f').count(), 15);
    assert_eq!(kinds("gpt-oss-120b").iter().filter(|k| **k == 'w').count(), 18);
    let windowed = with("}", r#", "layer_types": ["sliding_attention", "full_attention"] }"#);
    assert!(matches!(parse(&windowed), Err(ConfigError::Missing { field, .. }) if field == "sliding_window"));
    let short = with("}", r#", "layer_types": ["full_attention"] }"#);
    assert!(matches!(parse(&short), Err(ConfigError::OutOfRange { field, .. }) if field == "layer_types"));
}

#[test]
fn gates_and_norms_come_from_family_or_field() {
    for (name, gated, qk_norm) in [
        ("qwen3.5-397b-a17b", true, true),
        ("qwen3-next-80b-a3b", true, true),
        ("qwen3-8b", false, true),
        ("glm-4.5", false, true),
        ("glm-4.5-air", false, false),
        ("llama-3.1-8b", false, false),
    ] {
        let model = preset(name).expect(name);
        let Attention::Gqa(gqa) = &model.layers.last().expect("layers").layer.attention else {
            panic!("{name}")
        };
        assert_eq!((gqa.gated, gqa.qk_norm), (gated, qk_norm), "{name}");
    }
}

#[test]
fn a_draft_is_a_head_or_a_whole_model() {
    let Ok(Draft::Model(small)) = parse_draft_config("small", SMALL) else { panic!("a whole model") };
    assert_eq!(small.hidden, 4096);
    let head = with("}", r#", "draft_vocab_size": 16000 }"#);
    let Ok(Draft::Eagle3(eagle)) = parse_draft_config("head", &head) else { panic!("a head") };
    assert_eq!((eagle.vocabulary, eagle.fused_features), (16_000, 3));
    let Attention::Gqa(gqa) = &eagle.layer.attention else { panic!("grouped-query") };
    assert_eq!(gqa.input_multiple, 2);
}

/// A value that a careless or hostile file may hold.
fn any_value() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u64..5).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u64..1 << 25).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_:.*()]{0,12}".prop_map(Value::from),
        proptest::collection::vec("(full|sliding|linear)_attention", 0..4).prop_map(Value::from),
        Just(serde_json::json!({"quant_method": "fp8", "ignore": ["re:(.*)+x"]})),
    ]
}

proptest! {
    #[test]
    fn any_two_fields_may_hold_anything(
        preset in 0..crate::model::preset_entries().len(), picks in [any::<prop::sample::Index>(), any::<prop::sample::Index>()],
        values in [any_value(), any_value()],
    ) {
        let mut file = parse_json(crate::model::preset_entries()[preset].json()).expect("a preset is JSON");
        let nested = file.get("text_config").is_some();
        let map = if nested { file.get_mut("text_config").expect("just seen") } else { &mut file };
        let map = map.as_object_mut().expect("an object");
        for (pick, value) in picks.iter().zip(values) {
            let key = pick.get(&map.keys().cloned().collect::<Vec<_>>()).clone();
            map.insert(key, value);
        }
        if let Ok(model) = parse(&file.to_string()) {
            let size = crate::model::footprint(&model);
            prop_assert!(size.total_parameters.is_finite() && size.total_parameters >= size.active_parameters);
        }
        let _ = parse_draft_config("test", &file.to_string());
    }
}
