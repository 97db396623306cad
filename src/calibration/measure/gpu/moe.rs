//! Routed experts of a layer: gate and up projection, activation, down projection, weighted sum.

use half::bf16;

use super::super::ffi::{Arg, Buffer, Grid};
use super::super::{Check, Failure, Measured, Task};
use super::checked::{Checked, close};
use super::device::{Fill, Gpu};
use super::gemv::{Operands, Packed, Product, Quantised};
use super::packing::pack_bf16;
use super::random::{floats, units};
use super::routing::Routing;
use super::timing::{Asked, Rotation, chain_samples, measured};
use super::{reference, unsupported};
use crate::model::WeightFormat;

/// A layer, as one GPU has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    packed: Packed,
    hidden: u32,
    /// Width of an expert on this GPU.
    width: u32,
    per_token: u32,
    experts: u32,
    tokens: u32,
}

impl Shape {
    /// Of a task.
    ///
    /// # Errors
    /// A format for which there is no kernel, or a width that cannot be shared.
    pub(super) fn of(task: &Task) -> Result<Self, Failure> {
        let Task::Moe { weights, hidden, width, per_token, experts, shards, tokens } = task else {
            return Err(unsupported("no experts"));
        };
        let packed = match weights {
            WeightFormat::Bf16 => Packed::Bf16,
            WeightFormat::Int4 { group } => Packed::Int4 { group: u32::from(*group) },
            other => {
                let word = super::super::task::word_of_weights(*other);
                return Err(unsupported(format!("the own experts are bf16 or INT4, not {word}")));
            }
        };
        if *shards == 0 || !width.is_multiple_of(*shards) || *per_token > *experts || *per_token == 0 {
            return Err(unsupported(format!("{width} wide experts are not shared by {shards} GPUs")));
        }
        let width = width / shards;
        Ok(Self { packed, hidden: *hidden, width, per_token: *per_token, experts: *experts, tokens: *tokens })
    }

    /// Bytes of one expert: gate, up and down.
    fn expert_bytes(&self) -> u64 {
        3 * (self.packed.bytes(self.width, self.hidden) + self.packed.scale_bytes(self.width, self.hidden))
    }
}

/// Weights of one layer: of gate and up, of down; each with scales.
struct Weights([Buffer; 4]);

/// One turn of the tokens over the experts, on the device.
struct Draw {
    buffers: [Buffer; 3],
    groups: u32,
}

impl Draw {
    fn new(gpu: &Gpu, routing: &Routing) -> Result<Self, Failure> {
        let buffers =
            [gpu.holding(&routing.experts)?, gpu.holding(&routing.first)?, gpu.holding(&routing.pairs)?];
        Ok(Self { buffers, groups: routing.experts.len() as u32 })
    }
}

/// What a layer works on, weights aside.
struct Layer {
    shape: Shape,
    up: Product,
    down: Product,
    x: Buffer,
    gated: Buffer,
    active: Buffer,
    each: Buffer,
    partial: Buffer,
    mix: Buffer,
    out: Buffer,
}

impl Layer {
    fn new(gpu: &Gpu, shape: Shape, most: u32, groups: u32) -> Result<Self, Failure> {
        let Shape { packed, hidden, width, per_token, tokens, .. } = shape;
        let pairs = u64::from(tokens) * u64::from(per_token);
        let up = Product::new(packed, (2 * width, hidden), (groups, most), pairs, gpu.sms)?;
        let down = Product::new(packed, (hidden, width), (groups, most), pairs, gpu.sms)?;
        let mix: Vec<f32> = (0..pairs).map(|pair| mix_of(pair as u32)).collect();
        Ok(Self {
            shape,
            x: gpu.filled(2 * u64::from(tokens) * u64::from(hidden), Fill::Units, 41)?,
            gated: gpu.buffer(4 * pairs * u64::from(width))?,
            active: gpu.buffer(2 * pairs * u64::from(width))?,
            each: gpu.buffer(2 * pairs * u64::from(hidden))?,
            partial: gpu.buffer(up.partial_bytes().max(down.partial_bytes()))?,
            mix: gpu.holding(&mix)?,
            out: gpu.buffer(2 * u64::from(tokens) * u64::from(hidden))?,
            up,
            down,
        })
    }

    fn run(&self, gpu: &Gpu, weights: &Weights, draw: &Draw) -> Result<(), Failure> {
        let Shape { hidden, width, per_token, tokens, .. } = self.shape;
        let pairs = u64::from(tokens) * u64::from(per_token);
        let routing = [0, 1, 2].map(|i: usize| draw.buffers[i].at());
        let [w, s, down, down_scales] = &weights.0;
        let partial = self.partial.at();
        let up = Operands {
            weights: w.at(),
            scales: s.at(),
            x: self.x.at(),
            out: self.gated.at(),
            partial,
            routing,
            divide: per_token,
        };
        self.up.launch(gpu, up, draw.groups)?;
        let over = |count: u64| Grid { blocks: [count.div_ceil(256) as u32, 1, 1], threads: 256, shared: 0 };
        gpu.kernel("silu_mul", 0)?.launch(
            &gpu.stream,
            over(pairs * u64::from(width) / 2),
            &[Arg::Wide(self.gated.at()), Arg::Wide(self.active.at()), Arg::Wide(pairs), Arg::Word(width)],
        )?;
        let down = Operands {
            weights: down.at(),
            scales: down_scales.at(),
            x: self.active.at(),
            out: self.each.at(),
            partial,
            routing,
            divide: 1,
        };
        self.down.launch(gpu, down, draw.groups)?;
        let args = [
            Arg::Wide(self.each.at()),
            Arg::Wide(self.mix.at()),
            Arg::Wide(self.out.at()),
            Arg::Wide(u64::from(tokens)),
            Arg::Word(per_token),
            Arg::Word(hidden),
        ];
        gpu.kernel("moe_combine", 0)?.launch(
            &gpu.stream,
            over(u64::from(tokens) * u64::from(hidden) / 2),
            &args,
        )
    }
}

/// A router's weight.
fn mix_of(pair: u32) -> f32 {
    (1 + pair % 3) as f32 / 4.0
}

/// Times a layer; turns and layers rotate.
pub(super) fn measure(
    gpu: &Gpu,
    checked: &mut Checked,
    asked: Asked,
    shape: &Shape,
) -> Result<Measured, Failure> {
    const DRAWS: u32 = 16;
    let shape = *shape;
    let draws: Vec<Routing> = (0..DRAWS)
        .map(|turn| Routing::balanced(shape.tokens, shape.per_token, shape.experts, turn))
        .collect();
    let most = draws.iter().map(Routing::most).max().unwrap_or(1);
    let distinct = draws[0].experts.len() as u32;
    let layer = Layer::new(gpu, shape, most, distinct)?;
    let names = format!("moe {} {}", layer.up.name(), layer.down.name());
    let check = checked.once(&names, || test(gpu, shape.packed, most))?;
    let rotation = Rotation::over(u64::from(distinct) * shape.expert_bytes(), gpu.l2);
    let whole = u64::from(shape.experts) * shape.expert_bytes();
    let room = gpu.context.memory()?.0 / 2 / whole.max(1);
    let layers = u64::from(rotation.copies).min(4).min(room.max(1)) as u32;
    let weights: Vec<Weights> =
        (0..layers).map(|seed| random_layer(gpu, shape, seed)).collect::<Result<_, _>>()?;
    let draws: Vec<Draw> = draws.iter().map(|routing| Draw::new(gpu, routing)).collect::<Result<_, _>>()?;
    let copies = rotation.copies.next_multiple_of(layers).max(DRAWS);
    let rotation = Rotation { copies, ..rotation };
    let samples = chain_samples(gpu, asked, rotation, |copy| {
        layer.run(gpu, &weights[(copy % layers) as usize], &draws[(copy / layers % DRAWS) as usize])
    })?;
    let note = format!("round robin over {distinct} distinct experts a run, {layers} layers in rotation");
    Ok(measured(samples, check, vec![note]))
}

fn random_layer(gpu: &Gpu, shape: Shape, seed: u32) -> Result<Weights, Failure> {
    let Shape { packed, hidden, width, experts, .. } = shape;
    let all = |bytes: u64| bytes * u64::from(experts);
    let fill = if packed == Packed::Bf16 { Fill::Units } else { Fill::Bits };
    let weights = |n, k, seed| gpu.filled(all(packed.bytes(n, k)), fill, seed);
    let scales = |n, k, seed| gpu.filled(all(packed.scale_bytes(n, k)), Fill::Units, seed);
    Ok(Weights([
        weights(2 * width, hidden, 4 * seed)?,
        scales(2 * width, hidden, 4 * seed + 1)?,
        weights(hidden, width, 4 * seed + 2)?,
        scales(hidden, width, 4 * seed + 3)?,
    ]))
}

/// Tokens of the check, of which each expert of three gets some two thirds: enough for the kernel that `most` rows take.
fn tokens_checked(most: u32) -> u32 {
    if most <= 8 { 6 } else { most.next_power_of_two().min(64) / 8 * 9 }
}

/// Against the host: experts of 128 x 192 with as many tokens each as the kernel for `most` takes.
pub(super) fn test(gpu: &Gpu, packed: Packed, most: u32) -> Result<Check, Failure> {
    let tokens = tokens_checked(most);
    let packed = if packed == Packed::Bf16 { packed } else { Packed::Int4 { group: 64 } };
    let shape = Shape { packed, hidden: 192, width: 128, per_token: 2, experts: 3, tokens };
    let (h, w) = (192, 128);
    let routing = Routing::draw(tokens, 2, 3, 5);
    let layer = Layer::new(gpu, shape, routing.most(), routing.experts.len() as u32)?;
    let (up_packed, up) = experts(packed, (2 * w, h), 60);
    let (down_packed, down) = experts(packed, (h, w), 70);
    let [up_weights, up_scales] = up_packed;
    let [down_weights, down_scales] = down_packed;
    let weights = Weights([
        gpu.holding(&up_weights)?,
        gpu.holding(&up_scales)?,
        gpu.holding(&down_weights)?,
        gpu.holding(&down_scales)?,
    ]);
    layer.out.set(0xff)?;
    layer.run(gpu, &weights, &Draw::new(gpu, &routing)?)?;
    gpu.stream.synchronise()?;
    let got = floats(&layer.out.read::<bf16>(0, tokens as usize * h)?);
    let x = floats(&units(tokens as usize * h, 41));
    let mut want = vec![0.0f32; tokens as usize * h];
    for (group, expert) in routing.experts.iter().enumerate() {
        for &pair in &routing.pairs[routing.first[group] as usize..routing.first[group + 1] as usize] {
            let token = pair as usize / 2;
            let gated = reference::rounded(&reference::project(
                &x[token * h..][..h],
                &up[*expert as usize],
                (2 * w, h, 1),
            ));
            let active = reference::rounded(&reference::silu_mul(&gated, w));
            let each = reference::project(&active, &down[*expert as usize], (h, w, 1));
            want[token * h..][..h].iter_mut().zip(each).for_each(|(sum, y)| *sum += mix_of(pair) * y);
        }
    }
    close("the experts' layer", &got, &want)
}

/// Three experts: packed weights and scales, and values.
fn experts(packed: Packed, (n, k): (usize, usize), seed: u32) -> ([Vec<u32>; 2], Vec<Vec<f32>>) {
    let (mut weights, mut scales, mut values) = (Vec::new(), vec![], Vec::new());
    for expert in 0..3 {
        match packed {
            Packed::Bf16 => {
                let plain = units(n * k, seed + expert);
                weights.extend(pack_bf16(&plain, n, k));
                values.push(floats(&plain));
            }
            Packed::Int4 { group } => {
                let some = Quantised::random((n, k), group as usize, seed + 2 * expert);
                weights.extend(some.weights);
                scales.extend(some.scales);
                values.push(some.values);
            }
        }
    }
    ([weights, scales], values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_that_is_timed_is_the_one_that_is_checked() {
        let name = |most| Product::new(Packed::Bf16, (256, 192), (3, most), 100, 132).unwrap().name();
        for most in 1..=64 {
            let checked = Routing::draw(tokens_checked(most), 2, 3, 5).most();
            assert_eq!(name(checked), name(most), "{most}: {checked}");
        }
    }
}
