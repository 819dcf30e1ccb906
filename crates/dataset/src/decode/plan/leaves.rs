//! Plans branches of leaves (`TBranch`): the shape and the operations that their leaves give.

use rootfile::streamer::Packed;

use crate::decode::program::model::{EntryLayout, Program};
use crate::decode::program::op::Op;
use crate::decode::program::types::{Number, Reason, Shape};
use crate::tree::model::{Branch, Leaf, Tree};

/// The number that a leaf class holds.
fn number(leaf: &Leaf) -> Option<Number> {
    let (signed, unsigned) = match leaf.class.as_str() {
        "TLeafO" => (Number::Bool, Number::Bool),
        "TLeafB" => (Number::I8, Number::U8),
        "TLeafS" => (Number::I16, Number::U16),
        "TLeafI" => (Number::I32, Number::U32),
        // Long_t takes eight bytes in a file whatever the machine (TLeafG).
        "TLeafL" | "TLeafG" => (Number::I64, Number::U64),
        "TLeafF" => (Number::F32, Number::F32),
        "TLeafD" => (Number::F64, Number::F64),
        _ => return None,
    };
    Some(if leaf.is_unsigned { unsigned } else { signed })
}

/// The fixed dimensions of a leaf, by its title (`x[n][3][4]`); their product is fLen, which is right.
pub(crate) fn dimensions(title: &str, len: usize) -> Vec<usize> {
    let mut dims = Vec::new();
    for part in title.split('[').skip(1) {
        if let Some((inside, _)) = part.split_once(']')
            && let Ok(n) = inside.trim().parse::<usize>()
        {
            dims.push(n);
        }
    }
    if dims.iter().try_fold(1usize, |product, n| product.checked_mul(*n)) == Some(len) {
        dims
    } else if len == 1 {
        Vec::new()
    } else {
        vec![len]
    }
}

/// One leaf: its shape, its operation, and the leaf that counts it.
struct Part {
    shape: Shape,
    op: Op,
    counter: Option<usize>,
}

fn part(tree: &Tree, leaf: &Leaf) -> Result<Part, Reason> {
    let len = usize::try_from(leaf.len.max(1)).unwrap_or(1);
    let dims = dimensions(&leaf.named.title, len);
    if leaf.class == "TLeafC" {
        return Ok(Part { shape: Shape::Text, op: Op::CString, counter: None });
    }
    let (number, op) = match leaf.class.as_str() {
        "TLeafD32" => (Number::F64, Op::Packed(Packed::double32(&leaf.named.title))),
        "TLeafF16" => (Number::F32, Op::Packed(Packed::float16(&leaf.named.title))),
        _ => {
            let number = number(leaf).ok_or_else(|| format!("a leaf of class {}", leaf.class))?;
            (number, Op::Number(number))
        }
    };
    let shape = Shape::Number(number).fixed(&dims);
    let op = op.fixed(&dims);
    let counter = match leaf.leaf_count {
        None => None,
        Some(id) => Some(
            tree.leaves
                .iter()
                .position(|l| l.id == id)
                .ok_or_else(|| "a counter that is not in the tree".to_owned())?,
        ),
    };
    Ok(Part { shape, op, counter })
}

fn is(tree: &Tree, index: usize, leaf: &Leaf) -> bool {
    tree.leaves.get(index).is_some_and(|other| other.id == leaf.id)
}

/// The program of a branch of leaves.
pub(super) fn plan(tree: &Tree, branch: &Branch) -> Result<Program, Reason> {
    let leaves: Vec<&Leaf> = branch.leaves.iter().filter_map(|&l| tree.leaves.get(l)).collect();
    let mut program = Program::bytes();
    program.layout = EntryLayout::Fixed;
    let mut parts = Vec::new();
    let mut ops = Vec::new();
    if leaves.is_empty() {
        return Err("a branch without leaves".to_owned());
    }
    let counter = |leaf: &Leaf| leaf.leaf_count.and_then(|id| tree.leaves.iter().position(|l| l.id == id));
    let of_this = |counter: &usize| branch.leaves.contains(counter);
    // The interpreter's counters are those of other branches, then leaves of this branch.
    let counting: Vec<usize> = leaves.iter().filter_map(|leaf| counter(leaf)).collect();
    if leaves.len() > 1 {
        for other in counting.iter().filter(|c| !of_this(c)).filter_map(|&c| tree.leaves.get(c)) {
            program.counter(other.branch);
        }
    }
    let own: Vec<usize> = branch.leaves.iter().copied().filter(|l| counting.contains(l)).collect();
    let others = program.counters.len();
    program.slots = others + own.len();
    for leaf in &leaves {
        let part = part(tree, leaf)?;
        let (mut shape, mut op) = (part.shape, part.op);
        if let (Some(i), Op::Number(number)) = (own.iter().position(|&l| is(tree, l, leaf)), &op) {
            op = Op::Counter(others + i, *number);
        }
        if let Some(counter) = part.counter {
            let within = own.iter().position(|&l| l == counter).map(|i| others + i);
            if leaves.len() == 1 && within.is_none() {
                program.layout = EntryLayout::Items;
            } else {
                program.layout = EntryLayout::Each;
                let slot = within.or_else(|| Some(program.counter(tree.leaves.get(counter)?.branch)));
                let slot = slot.ok_or("a counter that is not in the tree")?;
                op = Op::Counted { counter: slot, flag: false, item: Box::new(op) };
            }
            shape = shape.list();
        }
        if op.fixed_size().is_none() && program.layout == EntryLayout::Fixed {
            program.layout = EntryLayout::Each;
        }
        parts.push((leaf.named.name.clone(), shape));
        ops.push(op);
    }
    if parts.len() == 1 {
        let ((_, shape), op) = parts.pop().zip(ops.pop()).unwrap_or((("".to_owned(), Shape::Bytes), Op::TString));
        (program.shape, program.op) = (shape, op);
    } else {
        (program.shape, program.op) = (Shape::Record(parts), Op::Record(ops));
    }
    program.typename = cpp(&program.shape);
    Ok(program)
}

/// A type as uproot spells it.
pub(super) fn cpp(shape: &Shape) -> String {
    match shape {
        Shape::Number(number) => number.cpp().to_owned(),
        Shape::Text => "char*".to_owned(),
        Shape::Bytes => "unknown".to_owned(),
        Shape::Fixed(n, inner) => {
            let inner = cpp(inner);
            match inner.split_once('[') {
                Some((name, dims)) => format!("{name}[{n}][{dims}"),
                None => format!("{inner}[{n}]"),
            }
        }
        Shape::List(inner) => {
            let inner = cpp(inner);
            match inner.split_once('[') {
                Some((name, dims)) => format!("{name}[][{dims}"),
                None => format!("{inner}[]"),
            }
        }
        Shape::Record(parts) => {
            let parts: Vec<String> = parts.iter().map(|(name, shape)| format!("{} {name};", cpp(shape))).collect();
            format!("struct {{{}}}", parts.join(" "))
        }
        Shape::Optional(inner) => format!("std::optional<{}>", cpp(inner)),
        Shape::Variant(parts) => {
            let parts: Vec<String> = parts.iter().map(|(_, shape)| cpp(shape)).collect();
            format!("std::variant<{}>", parts.join(", "))
        }
    }
}
