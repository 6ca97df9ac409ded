//! Ranks as threads: they do what all engines do, and never hang.

use super::checks::{Data, Grid, everything};
use crate::engine::Limits;
use crate::engine::Reduce::{Max, Sum};
use crate::engine::threads::simulate_within;
use crate::{Error, simulate};
use std::panic::catch_unwind;
use std::time::Duration;

#[test]
fn every_operation_with_every_dtype() {
    for (ranks, sizes) in [(1, [1, 1]), (2, [0, 1]), (4, [2, 2]), (6, [3, 0])] {
        let outcomes = simulate::<Grid, _>(ranks, &sizes, |mesh| everything(mesh));
        assert_eq!(outcomes, vec![Ok(()); ranks]);
    }
}

#[test]
fn a_rank_that_panics_ends_the_others() {
    let panicked = catch_unwind(|| {
        simulate::<Grid, _>(4, &[4, 1], |mesh| {
            if mesh.all().rank == 2 {
                panic!("index out of range");
            }
            let error = mesh.barrier().unwrap_err();
            assert_eq!(error.to_string(), "rank 2: it panicked");
            mesh.barrier().unwrap()
        })
    });
    let text = *panicked.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(text, "rank 2 of 4 panicked: index out of range");
}

#[test]
fn calls_that_do_not_match_are_told_on_all_ranks() {
    let texts = simulate::<Grid, _>(3, &[3, 1], |mesh| {
        let len = if mesh.all().rank == 1 { 4 } else { 3 };
        mesh.reduce_in_place(mesh.all(), "all_reduce", &mut vec![1.0_f32; len], Sum).unwrap_err().to_string()
    });
    for text in &texts {
        for part in
            ["the ranks do not do the same", "rank 0: all_reduce of 3 float32 (Sum) at", "rank 1: all_reduce of 4"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
    // Another dtype, another reduction, another operation, and counts that only two ranks know.
    let wrong = |run: &(dyn Fn(&crate::Mesh<Grid>, usize) -> crate::Result<()> + Sync)| {
        let outcomes = simulate::<Grid, _>(2, &[2, 1], |mesh| run(mesh, mesh.all().rank));
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Mismatch(_)))), "{outcomes:?}");
    };
    wrong(&|mesh, rank| match rank {
        0 => mesh.reduce_in_place(mesh.all(), "all_reduce", &mut [1_u8], Sum),
        _ => mesh.reduce_in_place(mesh.all(), "all_reduce", &mut [1.0_f32], Sum),
    });
    wrong(&|mesh, rank| mesh.reduce_in_place(mesh.all(), "all_reduce", &mut [1], if rank == 0 { Sum } else { Max }));
    wrong(&|mesh, rank| match rank {
        0 => mesh.broadcast(mesh.all(), &mut [1], 0),
        _ => mesh.reduce_in_place(mesh.all(), "all_reduce", &mut [1], Sum),
    });
    wrong(&|mesh, rank| {
        mesh.exchange(mesh.all(), &[1, 2, 3], &[[2, 1], [1, 2]][rank], &[[2, 2], [2, 2]][rank]).map(drop)
    });
    wrong(&|mesh, rank| mesh.neighbours(mesh.all(), &[1], &[1], 1 + rank, 1, true).map(drop));
}

#[test]
fn ranks_that_wait_for_what_never_comes_are_told() {
    // A rank that has ended.
    let outcomes = simulate::<Grid, _>(3, &[3, 1], |mesh| if mesh.all().rank == 1 { Ok(()) } else { mesh.barrier() });
    let text = outcomes[0].as_ref().unwrap_err().to_string();
    assert!(text.contains("rank 1 has ended, and rank 0 waits for it: barrier"), "{text}");
    assert!(outcomes[1].is_ok() && outcomes[2].is_err());
    // Two lines, in another order.
    let outcomes = simulate::<Grid, _>(2, &[2, 1], |mesh| {
        let lines = [mesh.all(), mesh.line::<Data>()];
        let rank = mesh.all().rank;
        mesh.reduce_in_place(lines[rank], "first", &mut [1], Sum)?;
        mesh.reduce_in_place(lines[1 - rank], "second", &mut [1], Sum)
    });
    for outcome in outcomes {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("wait for each other") && text.contains("\n  rank 1: first"), "{text}");
    }
}

#[test]
fn nobody_waits_longer_than_the_limit() {
    let limits = Limits { wait: Duration::from_millis(50), compare: false, piece: 1 };
    let outcomes = simulate_within::<Grid, _>(limits, 3, &[3, 1], |mesh| {
        if mesh.all().rank == 1 {
            std::thread::sleep(Duration::from_millis(500));
        }
        mesh.barrier()
    });
    for outcome in outcomes {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("waited 0.05 s (CASTIRON_MESH_SECONDS) for ranks [1]: barrier of 1 uint8"), "{text}");
    }
}

#[test]
fn what_was_begun_is_under_way_until_it_is_waited_for() {
    let sums = simulate::<Grid, _>(3, &[3, 1], |mesh| {
        let rank = mesh.all().rank as i64;
        let first = mesh.begin_reduce(mesh.all(), "all_reduce", vec![rank], Sum)?;
        let second = mesh.begin_gather(mesh.all(), vec![rank; 2], &[2; 3])?;
        drop(mesh.begin_reduce(mesh.all(), "all_reduce", vec![rank], Max)?);
        let between = mesh.gather(mesh.all(), &[rank], &[1; 3])?;
        Ok::<_, Error>((second.wait(mesh)?, between, first.wait(mesh)?))
    });
    assert_eq!(sums, vec![Ok((vec![0, 0, 1, 1, 2, 2], vec![0, 1, 2], vec![3])); 3]);
}
