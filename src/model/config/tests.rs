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
        ("4096", "99999999999", "`hidden_size` is 99999999999, but must be at most 16777216"),
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
