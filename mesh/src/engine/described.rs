//! What a rank is about to do, as the others are told: whether it fits what they do, and in words.

use super::{Call, Collective, Reduce};
use core::fmt;

/// An operation of one rank of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    /// The rank's number among all.
    pub rank: usize,
    pub what: String,
    pub dtype: String,
    pub len: usize,
    pub collective: Collective,
    pub at: String,
    pub number: u64,
}

impl Described {
    pub(crate) fn new(call: &Call) -> Self {
        Described {
            rank: call.line.number(call.line.rank),
            what: call.what.to_owned(),
            dtype: call.dtype.to_string(),
            len: call.len,
            collective: call.collective.clone(),
            at: format!("{}:{}", call.at.file(), call.at.line()),
            number: call.number,
        }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.what, self.len, self.dtype)?;
        match &self.collective {
            Collective::Reduce(reduce) => write!(f, " ({reduce:?})")?,
            Collective::ScatterReduced(reduce, counts) => write!(f, " ({reduce:?}) to {counts:?}")?,
            Collective::Gather(counts) => write!(f, " of {counts:?}")?,
            Collective::Exchange(to, from) => write!(f, ", to each {to:?}, from each {from:?}")?,
            Collective::Broadcast(from) => write!(f, " from position {from}")?,
            Collective::Neighbours { sent, received, periodic } => {
                let around = if *periodic { ", around" } else { "" };
                write!(f, ", to both sides {sent:?}, from both {received:?}{around}")?;
            }
        }
        write!(f, " at {} (call {})", self.at, self.number)
    }
}

/// That operations of the ranks of a line are one: the error lists all of them.
pub(crate) fn expect_same(all: &[&Described], lines_too: bool) -> Result<(), String> {
    let first = all[0];
    let same = all.iter().all(|other| {
        other.dtype == first.dtype && (!lines_too || (&other.at, &other.what) == (&first.at, &first.what))
    });
    if same && fit(all) {
        return Ok(());
    }
    let lines: Vec<String> = all.iter().map(|call| format!("\n  rank {}: {call}", call.rank)).collect();
    Err(format!("the ranks do not do the same:{}", lines.concat()))
}

fn fit(all: &[&Described]) -> bool {
    let first = all[0];
    let ranks = all.len();
    all.iter().enumerate().all(|(rank, call)| match (&call.collective, &first.collective) {
        (Collective::Reduce(a), Collective::Reduce(b)) => a == b && call.len == first.len,
        (Collective::Broadcast(a), Collective::Broadcast(b)) => a == b && call.len == first.len,
        (Collective::Gather(a), Collective::Gather(b)) => a == b,
        (Collective::ScatterReduced(..), Collective::ScatterReduced(..)) => call.collective == first.collective,
        (Collective::Exchange(to, _), Collective::Exchange(..)) => {
            to.iter().zip(all).all(|(to, other)| match &other.collective {
                Collective::Exchange(_, from) => from.get(rank) == Some(to),
                _ => false,
            })
        }
        (Collective::Neighbours { sent, periodic: a, .. }, Collective::Neighbours { periodic: b, .. }) => {
            let received = |of: usize, side: usize| match &all[of].collective {
                Collective::Neighbours { received, .. } => Some(received[side]),
                _ => None,
            };
            let at_end = |end: usize| !a && rank == end;
            a == b
                && (at_end(0) || received((rank + ranks - 1) % ranks, 1) == Some(sent[0]))
                && (at_end(ranks - 1) || received((rank + 1) % ranks, 0) == Some(sent[1]))
        }
        _ => false,
    })
}

/// As numbers and texts that are sent: `from_words` reads them.
impl Described {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (kind, numbers): (usize, Vec<usize>) = match &self.collective {
            Collective::Reduce(reduce) => (0, vec![*reduce as usize]),
            Collective::Gather(counts) => (1, counts.clone()),
            Collective::ScatterReduced(reduce, counts) => (2, [&[*reduce as usize][..], counts].concat()),
            Collective::Exchange(to, from) => (3, [&[to.len()][..], to, from].concat()),
            Collective::Broadcast(from) => (4, vec![*from]),
            Collective::Neighbours { sent, received, periodic } => {
                (5, [&sent[..], received, &[usize::from(*periodic)]].concat())
            }
        };
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let fields = [
            &self.rank.to_string(),
            &self.len.to_string(),
            &self.number.to_string(),
            &self.dtype,
            &kind.to_string(),
            &numbers.join(" "),
            &self.what,
            &self.at,
        ];
        fields.map(|field| &**field).join("\n").into_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let mut fields = text.splitn(8, '\n');
        let mut next = || fields.next();
        let (rank, len, number) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
        let (dtype, kind) = (next()?.to_owned(), next()?.parse::<usize>().ok()?);
        let numbers: Vec<usize> =
            next()?.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let collective = match (kind, &numbers[..]) {
            (0, [reduce]) => Collective::Reduce(reduce_of(*reduce)?),
            (1, counts) => Collective::Gather(counts.to_vec()),
            (2, [reduce, counts @ ..]) => Collective::ScatterReduced(reduce_of(*reduce)?, counts.to_vec()),
            (3, [ranks, counts @ ..]) => {
                let (to, from) = counts.split_at_checked(*ranks)?;
                Collective::Exchange(to.to_vec(), from.to_vec())
            }
            (4, [from]) => Collective::Broadcast(*from),
            (5, [a, b, c, d, periodic]) => {
                Collective::Neighbours { sent: [*a, *b], received: [*c, *d], periodic: *periodic != 0 }
            }
            _ => return None,
        };
        Some(Described { rank, what: next()?.to_owned(), dtype, len, collective, at: next()?.to_owned(), number })
    }
}

fn reduce_of(number: usize) -> Option<Reduce> {
    Reduce::ALL.get(number).copied()
}
