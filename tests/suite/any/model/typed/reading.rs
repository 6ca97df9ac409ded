//! The operations on a view: it is read, and other views are made of it.

use super::*;

impl<'a, E: Cell> Read<'a, E> {
    pub(super) fn rank(&self) -> usize {
        each!(Read self, |x| x.rank())
    }
    pub(super) fn stride(&self) -> Vec<usize> {
        each!(Read self, |x| x.stride().as_ref().to_vec())
    }
    pub(super) fn offset(&self) -> usize {
        each!(Read self, |x| x.storage_offset())
    }

    /// Views of the same dtype: what is got, what should be, and which ground it stands on.
    #[allow(clippy::type_complexity)]
    pub(super) fn next(
        &self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        ground: Ground,
    ) -> Result<Option<(Outcome<Read<'a, E>>, Option<Shown>, Ground)>> {
        let rank = self.rank();
        let at = m.below(rank)?;
        let size = shown.sizes.get(at).copied().unwrap_or(0);
        let kind = m.below(14)?;
        m.say(format_args!("{kind}@{at}"));
        let (got, want) = match kind {
            0 => {
                let got = match self {
                    Read::R0(x) => Read::R0(x.t()),
                    Read::R1(x) => Read::R1(x.t()),
                    Read::R2(x) => Read::R2(x.t()),
                    Read::R3(x) => Read::R3(x.transpose(axis![0], axis![2])),
                };
                (Some(Ok(got)), Some(shown.permuted(&(0..rank).rev().collect::<Vec<_>>())))
            }
            1 => {
                let index = m.below(size + 1)?;
                let got = along!(1 Read self, at => Read, |x, at, wrap| x.try_select(at, index).map(wrap));
                (got, shown.select(at as i64, index as i64).filter(|_| index < size))
            }
            2 => {
                let (start, len) = (m.below(size + 1)?, m.below(size + 1)?);
                let got = along!(0 Read self, at => Read, |x, at, wrap| x.try_narrow(at, start, len).map(wrap));
                (got, shown.narrow(at as i64, start as i64, len))
            }
            3 => {
                let (start, end, step) =
                    (m.below(size + 1)? as isize, m.below(size + 2)? as isize, m.below(3)? as isize + 1);
                let got = match self {
                    Read::R1(x) => Some(x.try_slice(s![start..end;step]).map(Read::R1)),
                    Read::R2(x) if at == 0 => Some(x.try_slice(s![start..end;step]).map(Read::R2)),
                    Read::R2(x) => Some(x.try_slice(s![.., start..end;step]).map(Read::R2)),
                    Read::R3(x) if at == 1 => Some(x.try_slice(s![.., start..end;step, ..]).map(Read::R3)),
                    _ => None,
                };
                (got, shown.slice(at as i64, Some(start as i64), Some(end as i64), step as i64))
            }
            4 => match self {
                Read::R2(x) => (Some(Ok(Read::R2(x.permute(axis![1, 0])))), Some(shown.permuted(&[1, 0]))),
                Read::R3(x) => (Some(Ok(Read::R3(x.permute(axis![2, 0, 1])))), Some(shown.permuted(&[2, 0, 1]))),
                _ => (None, None),
            },
            5 => {
                let offset = m.below(4)? as isize - 2;
                let got = match self {
                    Read::R2(x) => Some(x.try_diagonal_at(axis![0, 1], offset).map(Read::R1)),
                    Read::R3(x) => Some(x.try_diagonal_at(axis![0, 2], offset).map(Read::R2)),
                    _ => None,
                };
                (got, shown.diagonal(offset as i64, 0, -1).filter(|_| rank > 1))
            }
            6 => {
                // A new axis, whose size is known in the type.
                let mut sizes = shown.sizes.clone();
                sizes.insert(0, 1);
                let got = match self {
                    Read::R0(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R1),
                    Read::R1(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R2),
                    Read::R2(x) => x.unsqueeze(axis![0]).try_view_sized(array(&sizes)).map(Read::R3),
                    Read::R3(_) => return Ok(None),
                };
                (Some(got), Some(Shown { sizes, elements: shown.elements.clone() }))
            }
            7 => {
                let times = m.below(4)?;
                let mut wanted: Vec<i64> = shown.sizes.iter().map(|&size| size as i64).collect();
                wanted.insert(0, times as i64);
                let sizes: Vec<usize> = wanted.iter().map(|&size| size as usize).collect();
                let got = match self {
                    Read::R0(x) => x.try_expand_sized(array(&sizes)).map(Read::R1),
                    Read::R1(x) => x.try_expand_sized(array(&sizes)).map(Read::R2),
                    Read::R2(x) => x.try_expand_sized(array(&sizes)).map(Read::R3),
                    Read::R3(_) => return Ok(None),
                };
                (Some(got), shown.expand(&wanted))
            }
            8 => {
                let (size, step) = (m.below(size + 2)?, m.below(3)?);
                let want = shown.unfold(at as i64, size, step).filter(|_| rank == 1 || rank == 2);
                let got = match self {
                    Read::R1(x) => Some(x.try_unfold_sized(axis![0], size, step).map(Read::R2)),
                    Read::R2(x) if at == 0 => Some(x.try_unfold_sized(axis![0], size, step).map(Read::R3)),
                    Read::R2(x) => Some(x.try_unfold_sized(axis![1], size, step).map(Read::R3)),
                    _ => None,
                };
                (got, want)
            }
            9 | 10 => {
                // Under other sizes: a view, or a copy.
                let numel = shown.elements.len();
                let rows = [1, 2, 3, numel.max(1)][m.below(4)?];
                let sizes = if numel.is_multiple_of(rows) { vec![rows, numel / rows] } else { vec![numel] };
                let want = Some(Shown { sizes: sizes.clone(), elements: shown.elements.clone() });
                let got = match (kind, &sizes[..]) {
                    (9, &[a, b]) => each!(Read self, |x| x.try_view_sized::<Two>([a, b])).map(Read::R2),
                    (9, _) => each!(Read self, |x| x.try_view_sized::<One>([numel])).map(Read::R1),
                    (_, &[a, b]) => each!(Read self, |x| x.try_reshape_sized::<Two>([a, b])).map(Read::R2),
                    _ => each!(Read self, |x| x.try_reshape_sized::<One>([numel])).map(Read::R1),
                };
                return Ok(match got {
                    // Strides may not allow a view.
                    Err(_) if kind == 9 => None,
                    got => Some((got, want, if kind == 9 { ground } else { Ground::Other })),
                });
            }
            11 => {
                let parts = m.below(3)? + 1;
                let got = along!(0 Read self, at => Read, |x, at, wrap| {
                    x.try_tensor_split(at, parts).map(|all| all.into_iter().map(wrap).collect::<Vec<_>>())
                });
                let (Some(Ok(got)), Some(want)) = (got, shown.tensor_split(parts, at as i64)) else { return Ok(None) };
                let chosen = m.below(parts)?;
                (Some(Ok(got[chosen].clone())), Some(want[chosen].clone()))
            }
            _ => return self.restrided(m, shown, memory, ground),
        };
        Ok(got.map(|got| (got, want, ground)))
    }

    /// `as_strided`.
    #[allow(clippy::type_complexity)]
    pub(super) fn restrided(
        &self,
        m: &mut Machine,
        shown: &Shown,
        memory: &[u8],
        ground: Ground,
    ) -> Result<Option<(Outcome<Read<'a, E>>, Option<Shown>, Ground)>> {
        let (rows, columns) = (m.below(4)?, m.below(6)?);
        let (down, right) = (m.below(4)?, m.below(3)?);
        let offset = if bool::arbitrary_of(m.source)? { Some(m.below(9)?) } else { None };
        m.say(format_args!("as_strided [{rows}, {columns}] [{down}, {right}] {offset:?}"));
        let got =
            each!(Read self, |x| x.try_as_strided_sized::<Two>([rows, columns], [down, right], offset)).map(Read::R2);
        let width = size_of::<E>();
        let steps: Vec<usize> =
            (0..rows).flat_map(|row| (0..columns).map(move |column| row * down + column * right)).collect();
        let first = shown.elements.first().copied();
        match ground {
            Ground::Whole => {
                let start = offset.unwrap_or(self.offset());
                let inside = steps.iter().all(|step| (start + step + 1) * width <= memory.len());
                let elements = steps.iter().map(|step| ((start + step) * width) as i64).collect();
                let want = Shown { sizes: vec![rows, columns], elements };
                // Bytes that are no bools are not shown as such.
                let are_elements =
                    || E::DTYPE != DType::Bool || want.elements.iter().all(|&place| memory[place as usize] <= 1);
                let fits = inside && are_elements();
                Ok(Some((got, fits.then_some(want), ground)))
            }
            Ground::Own => {
                // Its own elements at the same distances from the first, and nothing else: zeros lie between.
                let Ok(got) = got else { return Ok(None) };
                let (sizes, bytes) = got.look();
                assert_eq!(sizes, [rows, columns], "{}", m.text);
                let start = offset.unwrap_or(0);
                for (at, step) in steps.iter().enumerate() {
                    let place = first.map(|first| first + ((start + step) * width) as i64);
                    let own = place.filter(|place| shown.elements.contains(place)).map(|place| place as usize);
                    let want = own.map_or(vec![0; width], |own| memory[own..own + width].to_vec());
                    assert_eq!(bytes[at * width..][..width], want, "element {at} of `as_strided`: {}", m.text);
                }
                m.left = m.left.saturating_sub(1);
                // What it shows stays, whatever others write: it is looked at as a view of its own.
                Ok(Some((Ok(got), None, Ground::Other)))
            }
            Ground::Other => Ok(None),
        }
    }
}

/// A tensor of the shape of another.
pub(super) fn alike<E: Cell, F: Cell, S: Shape>(x: &Tensor<E, S>, elements: &[F]) -> Tensor<F, S> {
    Tensor::from_vec_sized(elements.to_vec(), x.shape())
}

pub(super) fn array<const N: usize>(sizes: &[usize]) -> [usize; N] {
    sizes.try_into().unwrap()
}

/// A chain of views, all of which are kept.
pub(super) fn chain<'a, E: Cell>(
    m: &mut Machine,
    view: Read<'a, E>,
    shown: &Shown,
    memory: &[u8],
    ground: Ground,
    live: &mut Vec<Live<'a>>,
) -> Result<()> {
    check::<E>(m, &view, shown, memory);
    live.push(Live::new(view.clone()));
    let (mut view, mut shown, mut ground) = (view, shown.clone(), ground);
    for _ in 0..4 {
        if !m.step() {
            return Ok(());
        }
        match m.below(10)? {
            0 => {
                let kind = m.below(12)?;
                m.say(format_args!("seen as {kind}"));
                let Some(got) = E::seen_as(&view, kind) else { continue };
                match got {
                    Ok(AnyRead::U8(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::I32(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::F32(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::Bool(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::I64(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Ok(AnyRead::C64(next)) => return recast(m, &view, &shown, next, memory, ground, live),
                    Err(error) => {
                        // Which bytes are bools depends on the view's own, where others are written.
                        let bytes = shown_bytes::<E>(&shown, memory);
                        let refused = error.to_string().contains("0 or 1");
                        let own = ground == Ground::Own && bytes.iter().all(|&byte| byte <= 1);
                        assert!(!(refused && own), "{error} of a view of {bytes:?}: {}", m.text);
                    }
                }
            }
            1 => {
                // Copies, which outlive the memory.
                let copy = bool::arbitrary_of(m.source)?;
                m.say(format_args!("a copy, to_tensor {copy}"));
                let kept = match &view {
                    Read::R0(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R1(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R2(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                    Read::R3(x) => Live::new(if copy { x.to_tensor() } else { (**x).clone() }),
                };
                m.kept.push(kept);
            }
            2 => {
                // Operands that overlap.
                m.say("a + a, lazily");
                let elements = elements_of::<E>(&shown_bytes::<E>(&shown, memory));
                let got: Vec<E> = each!(Read & view, |x| {
                    let x = &**x;
                    fused!(x + x).to_vec()
                });
                let want: Vec<E> = elements.iter().map(|&x| x.plus(x)).collect();
                assert!(
                    got.len() == want.len() && got.iter().zip(&want).all(|(a, b)| a.is(*b)),
                    "{got:?} {want:?} {}",
                    m.text
                );
                if let Read::R2(x) = &view {
                    let [rows, columns] = x.shape();
                    if rows == columns {
                        let (x, t) = (&**x, &*x.t());
                        let got: Vec<E> = fused!(x + t).to_vec();
                        let turned = elements_of::<E>(&shown_bytes::<E>(&shown.permuted(&[1, 0]), memory));
                        let all = elements.iter().zip(turned).map(|(a, b)| a.plus(b));
                        assert!(got.iter().zip(all).all(|(a, b)| a.is(b)), "{}", m.text);
                    }
                }
            }
            _ => {
                let Some((got, want, on)) = view.next(m, &shown, memory, ground)? else { continue };
                match (got, want) {
                    (Ok(got), Some(want)) => {
                        check::<E>(m, &got, &want, memory);
                        if matches!(on, Ground::Whole) && !want.elements.is_empty() {
                            assert_eq!((got.offset() * size_of::<E>()) as i64, want.elements[0], "{}", m.text);
                        }
                        live.push(Live::new(got.clone()));
                        if want.elements.len() > 200 {
                            return Ok(());
                        }
                        (view, shown, ground) = (got, want, on);
                    }
                    (Ok(got), None) if on == Ground::Other => live.push(Live::new(got)),
                    (Err(_), None) => {}
                    (got, want) => panic!("{}: got {got:?}, the model {want:?}", m.text),
                }
            }
        }
    }
    Ok(())
}

/// Goes on with a view of the same bytes as another dtype.
pub(super) fn recast<'a, E: Cell, F: Cell>(
    m: &mut Machine,
    from: &Read<'a, E>,
    shown: &Shown,
    to: Read<'a, F>,
    memory: &[u8],
    ground: Ground,
    live: &mut Vec<Live<'a>>,
) -> Result<()> {
    let (sizes, bytes) = to.look();
    // Where its elements are follows from sizes, strides and where the first is.
    let base = shown.elements.first().map_or(0, |&place| place as usize);
    let shift = (to.offset() * size_of::<F>()).wrapping_sub(from.offset() * size_of::<E>());
    let strides = to.stride();
    let base = base.wrapping_add(shift);
    let all: Vec<i64> = positions(&sizes)
        .iter()
        .map(|position| {
            let steps: usize = position.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
            base.wrapping_add(steps * size_of::<F>()) as i64
        })
        .collect();
    let next = Shown { sizes, elements: all };
    m.say(format_args!("{} as {}", E::DTYPE, F::DTYPE));
    if ground == Ground::Other {
        live.push(Live::new(to));
        return Ok(());
    }
    // The bytes are those of the elements, or of their parts.
    let own: Vec<i64> = shown.elements.iter().flat_map(|&place| place..place + size_of::<E>() as i64).collect();
    for &place in &next.elements {
        assert!(
            (place..place + size_of::<F>() as i64).all(|byte| own.contains(&byte)),
            "beyond its own bytes: {}",
            m.text
        );
    }
    assert!(F::DTYPE != DType::Bool || bytes.iter().all(|&byte| byte <= 1), "no bool: {}", m.text);
    chain(m, to, &next, memory, ground, live)
}
