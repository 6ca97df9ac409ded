//! Large copies between the host and a device: the data arrives unchanged, staging memory is not overwritten before it has been read, and
//! every failure is an error.

use crate::on_gpu;
use crate::{on_pretend, pretend};
use castiron::{Cuda, Device, Tensor, shape};

type Line<D> = Tensor<i32, shape![_], D>;

fn numbers(len: usize, first: i32) -> Line<castiron::Cpu> {
    Tensor::from_vec_sized((0..len as i32).map(|at| at.wrapping_mul(7) + first).collect(), [len])
}

fn up<D: Device>(host: &Line<castiron::Cpu>) -> castiron::Result<Line<D>> {
    host.to_device::<D>()
}

/// There and back, of sizes around those at which the way changes; many uploads are under way at once.
#[test]
fn large_copies_arrive() {
    let most = 8 << 20;
    on_gpu!("staging::large_copies_arrive", {
        for bytes in [(1 << 20) - 4, 1 << 20, (1 << 20) + 4, most, 4 * most, 4 * most + 4, 5 * most + 12_344] {
            let hosts = [1, 2].map(|first| numbers(bytes / 4, first));
            let [first, second] = hosts.each_ref().map(|host| up::<Cuda<0>>(host).unwrap());
            assert_eq!(second.cpu().unwrap(), hosts[1]);
            assert_eq!(first.cpu().unwrap(), hosts[0]);
            drop(second);
            // A part, from an odd element on.
            let part = first.narrow(castiron::axis![0], 3, bytes / 4 - 5);
            assert_eq!(part.cpu().unwrap().to_vec(), hosts[0].to_vec()[3..bytes / 4 - 2]);
        }
    });
}

#[test]
fn each_device_has_its_own_ring() {
    on_pretend!("staging::each_device_has_its_own_ring", {
        let hosts = [1, 2].map(|first| numbers(5 << 20, first));
        let first = up::<Cuda<0>>(&hosts[0]).unwrap();
        let second = up::<Cuda<1>>(&hosts[1]).unwrap();
        assert_eq!((first.cpu().unwrap(), second.cpu().unwrap()), (hosts[0].clone(), hosts[1].clone()));
        assert_eq!(
            (first.to_device::<Cuda<1>>().unwrap().cpu().unwrap(), pretend::count("pin")),
            (hosts[0].clone(), 2)
        );
    });
}

/// Parts are copied while others are on their way: an upload is not waited for, and small copies go the driver's way.
#[test]
fn which_way_they_go() {
    on_pretend!("staging::which_way_they_go", {
        let large = numbers(12 << 20, 1);
        let x = up::<Cuda<0>>(&large).unwrap();
        assert_eq!((pretend::count("upload"), pretend::count("pin"), pretend::count("sync")), (6, 1, 0));
        drop(x.cpu().unwrap());
        assert_eq!((pretend::count("download"), pretend::count("pin"), pretend::count("sync")), (6, 1, 0));
        let x = up::<Cuda<0>>(&numbers(100, 1)).unwrap();
        drop(x.cpu().unwrap());
        assert_eq!((pretend::count("upload"), pretend::count("download"), pretend::count("sync")), (7, 7, 2));
        std::thread::scope(|scope| {
            for first in 0..3 {
                scope.spawn(move || {
                    let host = numbers(3 << 20, first);
                    assert_eq!(up::<Cuda<0>>(&host).unwrap().cpu().unwrap(), host);
                });
            }
        });
    });
}

/// Without pinned memory the driver copies as before.
#[test]
fn no_pinned_memory() {
    on_pretend!("staging::no_pinned_memory", {
        let host = numbers(1 << 20, 1);
        assert_eq!(castiron::device::cuda_device_count(), 2);
        // The events of the one device, the memory of the other.
        for what in ["pin", "event"] {
            pretend::fault(what, 1, 1, 2);
        }
        let (x, y) = (up::<Cuda<0>>(&host).unwrap(), up::<Cuda<1>>(&host).unwrap());
        assert_eq!((x.cpu().unwrap(), y.cpu().unwrap()), (host.clone(), host));
        assert_eq!((pretend::count("upload"), pretend::count("download")), (2, 2));
    });
}

/// Whichever call fails: the error comes back, and later copies are right.
#[test]
fn calls_that_fail() {
    on_pretend!("staging::calls_that_fail", {
        let host = numbers((40 << 20) / 4, 1);
        let other = numbers((40 << 20) / 4, 2);
        let x = up::<Cuda<0>>(&host).unwrap();
        for what in ["upload", "record", "wait"] {
            for at in [1, 3, 5] {
                pretend::fault(what, at, 1, 999);
                let error = up::<Cuda<0>>(&other).unwrap_err();
                assert!(error.to_string().starts_with("upload on cuda:0: CUDA_ERROR_UNKNOWN"), "{error}");
                assert_eq!(up::<Cuda<0>>(&other).unwrap().cpu().unwrap(), other);
            }
        }
        for what in ["download", "record", "wait"] {
            for at in [1, 3, 5] {
                pretend::fault(what, at, 1, 999);
                let error = x.cpu().unwrap_err();
                assert!(error.to_string().starts_with("download on cuda:0: CUDA_ERROR_UNKNOWN"), "{error}");
                assert_eq!(x.cpu().unwrap(), host);
            }
        }
        // Where it cannot be known what is under way, the memory is not used again.
        pretend::fault("upload", 2, 1, 999);
        pretend::fault("sync", 1, 1, 999);
        assert!(up::<Cuda<0>>(&other).is_err());
        assert_eq!(up::<Cuda<0>>(&other).unwrap().cpu().unwrap(), other);
        drop(x);
        assert_eq!(pretend::live(), 0);
    });
}
