//! Module-name patterns of quantisation settings: the part of regular expressions that they use.
//!
//! `compressed-tensors` writes `re:.*mlp\.(gate|up)_proj.*` (Python's `re.match`: anchored at the start, not at
//! the end); others write globs (`model.layers.*.self_attn`) or plain names. Understood: literals, `.`,
//! classes `[a-z0-9]`, `\d \w \s`, groups, `|`, `* + ?`, `^ $`, look-ahead `(?=..)` and `(?!..)`. The matcher
//! carries the set of places that a prefix can end at, so no pattern makes it slow. Left out: counted
//! repetition, back-references, look-behind; such a pattern is reported as not understood.

use std::collections::BTreeSet;

/// Deepest nesting of groups that is read.
const DEEPEST: usize = 32;

/// A pattern for module names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pattern {
    /// Any name that contains the text.
    Contains(String),
    /// Any name of which a start matches.
    Expression(Node),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Any,
    Literal(char),
    Class { ranges: Vec<(char, char)>, negated: bool },
    Start,
    End,
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat { node: Box<Node>, least: usize, many: bool },
    Ahead { node: Box<Node>, negated: bool },
}

impl Pattern {
    /// From an entry of `ignore`, `targets` or `modules_to_not_convert`; none where it is not understood.
    pub(super) fn parse(entry: &str) -> Option<Self> {
        if let Some(expression) = entry.strip_prefix("re:") {
            let mut parser = Parser { rest: expression.chars().collect(), at: 0, depth: 0 };
            let node = parser.alternatives()?;
            return (parser.at == parser.rest.len()).then_some(Self::Expression(node));
        }
        if entry.contains('*') {
            let any = Node::Repeat { node: Box::new(Node::Any), least: 0, many: true };
            let nodes = entry.chars().map(|c| if c == '*' { any.clone() } else { Node::Literal(c) });
            return Some(Self::Expression(Node::Sequence(nodes.collect())));
        }
        Some(Self::Contains(entry.to_owned()))
    }

    /// Whether the pattern covers a module.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Contains(text) => name.contains(text.as_str()),
            Self::Expression(node) => {
                let name: Vec<char> = name.chars().collect();
                !node.ends(&name, &BTreeSet::from([0])).is_empty()
            }
        }
    }
}

impl Node {
    /// Places at which the node can end when it starts at one of `from`.
    fn ends(&self, name: &[char], from: &BTreeSet<usize>) -> BTreeSet<usize> {
        let one = |accept: &dyn Fn(char) -> bool| {
            from.iter().filter(|at| name.get(**at).is_some_and(|c| accept(*c))).map(|at| at + 1).collect()
        };
        match self {
            Self::Any => one(&|_| true),
            Self::Literal(literal) => one(&|c| c == *literal),
            Self::Class { ranges, negated } => {
                one(&|c| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated)
            }
            Self::Start => from.iter().copied().filter(|at| *at == 0).collect(),
            Self::End => from.iter().copied().filter(|at| *at == name.len()).collect(),
            Self::Sequence(nodes) => nodes.iter().fold(from.clone(), |places, node| node.ends(name, &places)),
            Self::Either(nodes) => nodes.iter().flat_map(|node| node.ends(name, from)).collect(),
            Self::Repeat { node, least, many } => repeat(node, *least, *many, name, from),
            Self::Ahead { node, negated } => from
                .iter()
                .copied()
                .filter(|at| node.ends(name, &BTreeSet::from([*at])).is_empty() == *negated)
                .collect(),
        }
    }
}

fn repeat(node: &Node, least: usize, many: bool, name: &[char], from: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut places = from.clone();
    for _ in 0..least {
        places = node.ends(name, &places);
    }
    let mut frontier = places.clone();
    if !many {
        places.extend(node.ends(name, &frontier));
        return places;
    }
    while !frontier.is_empty() {
        frontier = node.ends(name, &frontier).difference(&places).copied().collect();
        places.extend(&frontier);
    }
    places
}

struct Parser {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = wanted.chars().enumerate().all(|(i, c)| self.rest.get(self.at + i) == Some(&c));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    fn alternatives(&mut self) -> Option<Node> {
        let mut branches = vec![self.sequence()?];
        while self.take("|") {
            branches.push(self.sequence()?);
        }
        Some(if branches.len() == 1 { branches.remove(0) } else { Node::Either(branches) })
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let node = self.atom()?;
            nodes.push(self.repeated(node)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn repeated(&mut self, node: Node) -> Option<Node> {
        let (least, many) = match self.peek() {
            Some('*') => (0, true),
            Some('+') => (1, true),
            Some('?') => (0, false),
            Some('{') => return None,
            _ => return Some(node),
        };
        self.at += 1;
        self.take("?");
        Some(Node::Repeat { node: Box::new(node), least, many })
    }

    fn atom(&mut self) -> Option<Node> {
        let c = self.peek()?;
        self.at += 1;
        match c {
            '.' => Some(Node::Any),
            '^' => Some(Node::Start),
            '$' => Some(Node::End),
            '(' => self.group(),
            '[' => self.class(),
            '\\' => self.escape(),
            '*' | '+' | '?' | '{' | ']' | '}' => None,
            literal => Some(Node::Literal(literal)),
        }
    }

    fn group(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let ahead = if self.take("?=") {
            Some(false)
        } else if self.take("?!") {
            Some(true)
        } else {
            self.take("?:");
            None
        };
        let node = self.alternatives()?;
        self.depth -= 1;
        self.take(")").then_some(match ahead {
            Some(negated) => Node::Ahead { node: Box::new(node), negated },
            None => node,
        })
    }

    fn class(&mut self) -> Option<Node> {
        let negated = self.take("^");
        let mut ranges = Vec::new();
        while let Some(low) = self.peek() {
            self.at += 1;
            match low {
                ']' => return Some(Node::Class { ranges, negated }),
                '\\' => match self.escape()? {
                    Node::Class { ranges: inner, negated: false } => ranges.extend(inner),
                    Node::Literal(c) => ranges.push((c, c)),
                    _ => return None,
                },
                low if self.rest.get(self.at + 1).is_some_and(|c| *c != ']') && self.take("-") => {
                    ranges.push((low, self.peek()?));
                    self.at += 1;
                }
                single => ranges.push((single, single)),
            }
        }
        None
    }

    fn escape(&mut self) -> Option<Node> {
        let c = self.peek()?;
        self.at += 1;
        let ranges = match c {
            'd' => vec![('0', '9')],
            'w' => vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
            's' => vec![(' ', ' '), ('\t', '\r')],
            letter if letter.is_alphanumeric() => return None,
            literal => return Some(Node::Literal(literal)),
        };
        Some(Node::Class { ranges, negated: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern).unwrap_or_else(|| panic!("{pattern} is understood")).matches(name)
    }

    #[test]
    fn expressions_match_from_the_start() {
        let dense = r"re:.*mlp\.(gate|up|gate_up|down)_proj.*";
        assert!(matches(dense, "model.layers.0.mlp.down_proj"));
        assert!(!matches(dense, "model.layers.1.mlp.experts.0.down_proj"));
        assert!(matches("re:.*self_attn.*", "model.layers.1.self_attn.o_proj"));
        assert!(!matches("re:self_attn", "model.layers.1.self_attn.o_proj"));
        assert!(matches(r"re:.*layers\.[0-2]\.", "model.layers.2.mlp"));
        assert!(!matches(r"re:.*layers\.[0-2]\.", "model.layers.12.mlp"));
        assert!(matches(r"re:.*\.\d+\.mlp$", "model.layers.12.mlp"));
        assert!(matches("re:^(?!.*experts).*proj", "model.layers.1.mlp.down_proj"));
        assert!(!matches("re:^(?!.*experts).*proj", "model.layers.1.mlp.experts.0.down_proj"));
    }

    #[test]
    fn globs_and_plain_names_match_too() {
        assert!(matches("model.layers.*.self_attn", "model.layers.3.self_attn.q_proj"));
        assert!(!matches("model.layers.*.self_attn", "model.layers.3.mlp.down_proj"));
        assert!(matches("lm_head", "lm_head"));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for pattern in ["re:(a", "re:a{2}", r"re:(a)\1", "re:*", "re:[a"] {
            assert_eq!(Pattern::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn nested_repetition_ends() {
        assert!(!matches("re:(a*)*b", &"a".repeat(200)));
    }
}
