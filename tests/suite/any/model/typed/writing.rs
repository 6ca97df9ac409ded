//! The operations on a mutable view: its elements are written, in parts and from other elements.

use super::*;

impl<'a, E: Cell> Mut<'a, E> {
    pub(super) fn as_view(&self) -> Read<'_, E> {
        rewrapped!(Mut self => Read, |x| x.as_view())
    }
    pub(super) fn into_view(self) -> Read<'a, E> {
        rewrapped!(Mut self => Read, |x| x.into_view())
    }

    /// A part of the view, to be written.
    pub(super) fn part(
        &mut self,
        m: &mut Machine,
        shown: &Shown,
    ) -> Result<Option<(Outcome<Mut<'_, E>>, Option<Shown>)>> {
        let rank = shown.rank();
        let at = m.below(rank)?;
        let size = shown.sizes.get(at).copied().unwrap_or(0);
        let kind = m.below(8)?;
        m.say(format_args!("mut {kind}@{at}"));
        let (got, want) = match kind {
            0 => {
                let got = match self {
                    Mut::R0(x) => Mut::R0(x.t_mut()),
                    Mut::R1(x) => Mut::R1(x.t_mut()),
                    Mut::R2(x) => Mut::R2(x.t_mut()),
                    Mut::R3(x) => Mut::R3(x.transpose_mut(axis![0], axis![2])),
                };
                (Some(Ok(got)), Some(shown.permuted(&(0..rank).rev().collect::<Vec<_>>())))
            }
            1 => {
                let index = m.below(size + 1)?;
                let got = along!(1 Mut self, at => Mut, |x, at, wrap| x.try_select_mut(at, index).map(wrap));
                (got, shown.select(at as i64, index as i64).filter(|_| index < size))
            }
            2 => {
                let (start, len) = (m.below(size + 1)?, m.below(size + 1)?);
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| x.try_narrow_mut(at, start, len).map(wrap));
                (got, shown.narrow(at as i64, start as i64, len))
            }
            3 => {
                let (start, end, step) =
                    (m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1);
                let got = match self {
                    Mut::R1(x) => Some(x.try_slice_mut(s![start..end;step]).map(Mut::R1)),
                    Mut::R2(x) => Some(
                        if at == 0 {
                            x.try_slice_mut(s![start..end;step])
                        } else {
                            x.try_slice_mut(s![.., start..end;step])
                        }
                        .map(Mut::R2),
                    ),
                    Mut::R3(x) if at == 1 => Some(x.try_slice_mut(s![.., start..end;step, ..]).map(Mut::R3)),
                    _ => None,
                };
                (got, shown.slice(at as i64, Some(start as i64), Some(end as i64), step as i64))
            }
            4 => match self {
                Mut::R2(x) => (Some(x.try_permute_mut(axis![1, 0]).map(Mut::R2)), Some(shown.permuted(&[1, 0]))),
                Mut::R3(x) => (Some(x.try_permute_mut(axis![2, 0, 1]).map(Mut::R3)), Some(shown.permuted(&[2, 0, 1]))),
                _ => (None, None),
            },
            5 => {
                let offset = m.below(4)? as isize - 2;
                let got = match self {
                    Mut::R2(x) => Some(x.try_diagonal_at_mut(axis![0, 1], offset).map(Mut::R1)),
                    Mut::R3(x) => Some(x.try_diagonal_at_mut(axis![0, 2], offset).map(Mut::R2)),
                    _ => None,
                };
                (got, shown.diagonal(offset as i64, 0, -1).filter(|_| rank > 1))
            }
            6 => {
                let numel = shown.elements.len();
                let got = each!(Mut self, |x| x.try_reshape_sized_mut::<One>([numel])).map(Mut::R1);
                // Strides may not allow it.
                let want = got.is_ok().then(|| Shown { sizes: vec![numel], elements: shown.elements.clone() });
                (Some(got), want)
            }
            _ => (Some(Ok(rewrapped!(Mut self => Mut, |x| x.view_mut()))), Some(shown.clone())),
        };
        Ok(got.map(|got| (got, want)))
    }

    /// Parts that are written at once.
    #[allow(clippy::type_complexity)]
    pub(super) fn parts(&mut self, m: &mut Machine, shown: &Shown) -> Result<Option<(Vec<Mut<'_, E>>, Vec<Shown>)>> {
        let at = m.below(shown.rank())?;
        let Some(&size) = shown.sizes.get(at) else { return Ok(None) };
        let kind = m.below(6)?;
        m.say(format_args!("parts {kind}@{at}"));
        let halves = |at: usize, middle: usize| {
            let (first, rest) =
                (shown.narrow(at as i64, 0, middle), shown.narrow(at as i64, middle as i64, size - middle));
            vec![first.unwrap(), rest.unwrap()]
        };
        Ok(match kind {
            0 => {
                let middle = m.below(size + 1)?;
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| x.split_at_mut(at, middle).map(wrap).into());
                got.map(|got| (got, halves(at, middle)))
            }
            1 => {
                let len = m.below(3)? + 1;
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| {
                    x.split_mut(at, len).into_iter().map(wrap).collect::<Vec<_>>()
                });
                got.zip(shown.split(len, at as i64))
            }
            2 if size % 2 == 0 => {
                let got = along!(0 Mut self, at => Mut, |x, at, wrap| {
                    x.try_chunk_array_mut::<2, _>(at).unwrap().map(wrap).into()
                });
                got.map(|got| (got, halves(at, size / 2)))
            }
            3 => {
                let got =
                    along!(1 Mut self, at => Mut, |x, at, wrap| x.iter_axis_mut(at).map(wrap).collect::<Vec<_>>());
                let want = (0..size).map(|index| shown.select(at as i64, index as i64).unwrap()).collect();
                got.map(|got| (got, want))
            }
            4 | 5 => {
                let mut range = || -> Result<[isize; 3]> {
                    Ok([m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1])
                };
                let ([a, b, c], [d, e, f]) = (range()?, range()?);
                let want = [[a, b, c], [d, e, f]]
                    .map(|[a, b, c]| shown.slice(at as i64, Some(a as i64), Some(b as i64), c as i64).unwrap());
                let meet = want[0].elements.iter().any(|place| want[1].elements.contains(place));
                let got = match self {
                    Mut::R1(x) => x.try_multi_slice_mut([s![a..b;c], s![d..e;f]]).map(|all| all.map(Mut::R1).into()),
                    Mut::R2(x) => {
                        if at == 0 {
                            let both = x.try_multi_slice_mut((s![a..b;c], s![d..e;f, ..]));
                            both.map(|(one, other)| vec![Mut::R2(one), Mut::R2(other)])
                        } else {
                            let both = x.try_multi_slice_mut([s![.., a..b;c], s![.., d..e;f]]);
                            both.map(|all| all.map(Mut::R2).into())
                        }
                    }
                    _ => return Ok(None),
                };
                // (Ranges of an axis may meet where another axis is empty.)
                assert!(got.is_err() || !meet, "slices that meet: {}", m.text);
                assert!(got.is_ok() || meet || shown.elements.is_empty(), "slices that do not meet: {}", m.text);
                got.ok().map(|got: Vec<Mut<'_, E>>| (got, want.into()))
            }
            _ => None,
        })
    }

    /// Writes, and what the elements should be then.
    pub(super) fn write(
        &mut self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        others: &[(Read<'_, E>, Shown)],
    ) -> Result<Vec<E>> {
        let old: Vec<E> = elements_of(&shown_bytes::<E>(shown, memory));
        let len = old.len();
        let kind = m.below(12)?;
        m.say(format_args!("write {kind}"));
        Ok(match kind {
            0 => {
                let value = m.number()?;
                each!(Mut self, |x| x.fill(value));
                vec![E::number(value); len]
            }
            1 => {
                each!(Mut self, |x| { x.zero_(); });
                vec![E::default(); len]
            }
            2 | 3 => {
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = &alike(x, &new);
                    if kind == 2 { x.assign(rhs) } else { *x += rhs }
                });
                if kind == 2 { new } else { old.into_iter().zip(new).map(|(a, b)| a.plus(b)).collect() }
            }
            4 => {
                // Lazily, of the elements that are written.
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = alike(x, &new);
                    let own = x.to_tensor();
                    x.assign(own.lazy() + &rhs)
                });
                old.into_iter().zip(new).map(|(a, b)| a.plus(b)).collect()
            }
            5 => {
                let new = m.elements::<E>(len)?;
                each!(Mut self, |x| {
                    let rhs = &alike(x, &new);
                    *x += rhs.lazy() + rhs;
                });
                old.into_iter().zip(new).map(|(a, b)| a.plus(b.plus(b))).collect()
            }
            6 => {
                let mask: Vec<bool> = (0..len).map(|_| bool::arbitrary_of(m.source)).collect::<Result<_>>()?;
                each!(Mut self, |x| { x.masked_fill_(&alike(x, &mask), 1); });
                old.into_iter().zip(mask).map(|(x, mask)| if mask { E::number(1) } else { x }).collect()
            }
            7 => {
                E::in_place(self);
                old.into_iter().map(E::in_place_of).collect()
            }
            8 => {
                // One element, at each place that leads to it.
                let (mut new, value) = (old, E::number(m.number()?));
                let place = m.below(len)?;
                let all = positions(&shown.sizes);
                if let Some(position) = all.get(place) {
                    match self {
                        Mut::R0(x) => *x.get_mut(()).unwrap() = value,
                        Mut::R1(x) => x[array::<1>(position)] = value,
                        Mut::R2(x) => *x.get_mut(array::<2>(position)).unwrap() = value,
                        Mut::R3(x) => x[array::<3>(position)] = value,
                    }
                    new[place] = value;
                }
                new
            }
            9 => {
                let new = m.elements::<E>(len)?;
                match each!(Mut self, |x| x.as_mut_slice()) {
                    Some(slice) => slice.copy_from_slice(&new),
                    None => return Ok(old),
                }
                new
            }
            _ => {
                // From another part of the same memory.
                let Some((other, from)) = others.get(m.below(others.len())?) else { return Ok(old) };
                let wanted: Vec<i64> = shown.sizes.iter().map(|&size| size as i64).collect();
                let want = from.expand(&wanted).map(|from| elements_of::<E>(&shown_bytes::<E>(&from, memory)));
                let plus = kind == 11;
                macro_rules! written {
                    ($x:ident, $other:ident) => {
                        if plus { $x.try_assign($other.lazy() + &**$other) } else { $x.try_copy_from($other) }
                    };
                }
                let done = match (&mut *self, other) {
                    (Mut::R0(x), Read::R0(other)) => written!(x, other),
                    (Mut::R1(x), Read::R0(other)) => written!(x, other),
                    (Mut::R1(x), Read::R1(other)) => written!(x, other),
                    (Mut::R2(x), Read::R1(other)) => written!(x, other),
                    (Mut::R2(x), Read::R2(other)) => written!(x, other),
                    (Mut::R3(x), Read::R3(other)) => written!(x, other),
                    _ => return Ok(old),
                };
                assert_eq!(done.is_ok(), want.is_some(), "{done:?} {}", m.text);
                match want {
                    Some(new) if plus => new.into_iter().map(|x| x.plus(x)).collect(),
                    Some(new) => new,
                    None => old,
                }
            }
        })
    }
}

/// A program of edits of a view, while others are there.
pub(super) fn edit<E: Cell>(
    m: &mut Machine,
    view: &mut Mut<'_, E>,
    shown: &Shown,
    memory: &mut Vec<u8>,
    others: &[(Read<'_, E>, Shown)],
    scope: &Scope,
) -> Result<()> {
    check::<E>(m, &view.as_view(), shown, memory);
    for _ in 0..4 {
        if !m.step() {
            break;
        }
        match m.below(8)? {
            0..3 => {
                let want = view.write(m, shown, memory, others)?;
                let got: Vec<E> = elements_of(&view.as_view().look().1);
                assert!(
                    want.len() == got.len() && want.iter().zip(&got).all(|(a, b)| a.is(*b)),
                    "{want:?} {got:?} {}",
                    m.text
                );
                for (&place, got) in shown.elements.iter().zip(got) {
                    memory[place as usize..][..size_of::<E>()].copy_from_slice(&got.bytes());
                }
            }
            3 => match view.part(m, shown)? {
                Some((Ok(mut part), Some(shown))) => edit(m, &mut part, &shown, memory, others, scope)?,
                Some((Err(_), None)) | None => {}
                Some((got, want)) => {
                    panic!("{}: got {:?}, the model {want:?}", m.text, got.map(|x| x.as_view().look()))
                }
            },
            4 => E::edit_parts(m, view, shown, memory, scope)?,
            5 | 6 => {
                if let Some((parts, all)) = view.parts(m, shown)? {
                    edit_all(m, parts, &all, memory, scope)?;
                }
            }
            _ => {
                let mut live = vec![];
                chain(m, view.as_view(), shown, memory, Ground::Own, &mut live)?;
                Scope { live: &live, outer: Some(scope) }.check(m);
            }
        }
        check::<E>(m, &view.as_view(), shown, memory);
        scope.check(m);
    }
    Ok(())
}

/// Edits some parts while the others are looked at.
pub(super) fn edit_all<'a, E: Cell>(
    m: &mut Machine,
    parts: Vec<Mut<'a, E>>,
    all: &[Shown],
    memory: &mut Vec<u8>,
    scope: &Scope,
) -> Result<()> {
    assert_eq!(parts.len(), all.len(), "{}", m.text);
    let mut places: Vec<i64> = all.iter().flat_map(|shown| shown.elements.iter().copied()).collect();
    places.sort_unstable();
    assert!(places.is_sorted_by(|a, b| a < b), "parts that meet: {}", m.text);
    let (mut frozen, mut open): (Vec<(Read<'a, E>, Shown)>, Vec<(Mut<'a, E>, Shown)>) = (vec![], vec![]);
    for (part, shown) in parts.into_iter().zip(all) {
        check::<E>(m, &part.as_view(), shown, memory);
        if bool::arbitrary_of(m.source)? {
            frozen.push((part.into_view(), shown.clone()));
        } else {
            open.push((part, shown.clone()));
        }
    }
    let mut live = vec![];
    for (view, shown) in &frozen {
        chain(m, view.clone(), shown, memory, Ground::Own, &mut live)?;
    }
    // References, which are held meanwhile.
    let slices: Vec<(&[E], Vec<u8>)> = frozen
        .iter()
        .filter_map(|(view, shown)| Some((each!(Read view, |x| x.as_slice())?, shown_bytes::<E>(shown, memory))))
        .collect();
    let outer = Scope { live: &live, outer: Some(scope) };
    for at in 0..open.len().min(4) {
        let (left, rest) = open.split_at_mut(at);
        let [(this, shown), right @ ..] = rest else { unreachable!() };
        let mut others = frozen.clone();
        others.extend(left.iter().chain(&*right).map(|(part, shown)| (part.as_view(), shown.clone())));
        let mut live = vec![];
        if let Some((view, shown)) = others.last() {
            chain(m, view.clone(), shown, memory, Ground::Own, &mut live)?;
        }
        let scope = Scope { live: &live, outer: Some(&outer) };
        edit(m, this, shown, memory, &others, &scope)?;
    }
    for (slice, bytes) in slices {
        assert_eq!(slice.iter().flat_map(|x| x.bytes()).collect::<Vec<u8>>(), bytes, "a slice changed: {}", m.text);
    }
    outer.check(m);
    Ok(())
}
