//! The library of MPI: found when a launcher has started the program, its functions, and the constants of its ABI.
//!
//! There are three ABIs: that of Open MPI 1.7 to 5 (`libmpi.so.40`), whose constants are the addresses of symbols; that of MPICH and its kin since 2013
//! (`libmpi.so.12`: MPICH, Intel MPI, MVAPICH, Cray), whose constants are numbers; and the standard one of MPI 5 (`libmpi_abi.so`). No header is needed to
//! build, and one binary runs with all of them.

#![allow(non_snake_case)]

use super::super::Reduce;
use crate::error::{Error, Result};
use castiron::DType;
use core::ffi::{CStr, c_char, c_int, c_void};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// A communicator, datatype, operation or request: a pointer in two of the ABIs, an `int` in the third, which reads and writes the lower half (this module
/// is for little-endian machines of 64 bits, which pass both in one register or one slot of 8 bytes).
pub(super) type Handle = usize;

/// A function that combines elements: those of the first list into the second; how many there are.
pub(super) type Function = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut Handle);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abi {
    Standard,
    OpenMpi,
    Mpich,
}

/// Writes the table of functions: `functions! { MPI_Finalize(); }` writes `struct Functions { pub MPI_Finalize: unsafe extern "C" fn() -> c_int }`.
macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        pub(super) struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) -> c_int,)* }
        impl Functions {
            fn load(library: &Library) -> core::result::Result<Self, String> {
                Ok(Functions {
                    $($name: {
                        // SAFETY: the standard of MPI gives the function this signature, its handles being `Handle`.
                        let found = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *found.map_err(|_| concat!("`", stringify!($name), "` is missing: MPI 3 or newer is needed").to_owned())?
                    },)*
                })
            }
        }
    };
}
functions! {
    MPI_Initialized(*mut c_int);
    MPI_Init_thread(*mut c_int, *mut c_void, c_int, *mut c_int);
    MPI_Finalize();
    MPI_Abort(Handle, c_int);
    MPI_Error_string(c_int, *mut c_char, *mut c_int);
    MPI_Get_library_version(*mut c_char, *mut c_int);
    MPI_Comm_rank(Handle, *mut c_int);
    MPI_Comm_size(Handle, *mut c_int);
    MPI_Comm_split(Handle, c_int, c_int, *mut Handle);
    MPI_Comm_split_type(Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Comm_set_errhandler(Handle, Handle);
    MPI_Op_create(Function, c_int, *mut Handle);
    MPI_Wait(*mut Handle, *mut c_void);
    MPI_Test(*mut Handle, *mut c_int, *mut c_void);
    MPI_Iprobe(c_int, c_int, Handle, *mut c_int, *mut c_void);
    MPI_Get_count(*const c_void, Handle, *mut c_int);
    MPI_Isend(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Irecv(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Allreduce(usize, *mut c_void, c_int, Handle, Handle, Handle);
    MPI_Iallreduce(usize, *mut c_void, c_int, Handle, Handle, Handle, *mut Handle);
    MPI_Bcast(*mut c_void, c_int, Handle, c_int, Handle);
    MPI_Ibcast(*mut c_void, c_int, Handle, c_int, Handle, *mut Handle);
    MPI_Reduce(*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle);
    MPI_Ireduce(*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle, *mut Handle);
    MPI_Allgatherv(*const c_void, c_int, Handle, *mut c_void, *const c_int, *const c_int, Handle, Handle);
    MPI_Iallgatherv(*const c_void, c_int, Handle, *mut c_void, *const c_int, *const c_int, Handle, Handle, *mut Handle);
    MPI_Reduce_scatter(*const c_void, *mut c_void, *const c_int, Handle, Handle, Handle);
    MPI_Ireduce_scatter(*const c_void, *mut c_void, *const c_int, Handle, Handle, Handle, *mut Handle);
}

/// The library, loaded.
pub(super) struct Loaded {
    pub abi: Abi,
    pub name: String,
    pub functions: Functions,
    pub errors_return: Handle,
    pub no_info: Handle,
    world: Handle,
    /// By dtype, and by reduction.
    dtypes: Vec<Handle>,
    operations: Vec<Handle>,
    // Its functions are called.
    _library: Library,
}

/// Whether a launcher has started this program: it says so in its variables. Without one, a program is one rank and needs no MPI.
pub(in super::super) fn is_launched() -> bool {
    let told = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"];
    told.iter().any(|name| std::env::var_os(name).is_some())
}

/// How many ranks the launcher says that there are.
pub(super) fn ranks_told() -> Option<usize> {
    let told = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
    told.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// Where a library of MPI is looked for, by the loader: the launcher says whose processes these are, and a library of another kind would make each a
/// world of its own.
fn names() -> &'static [&'static str] {
    let is_set = |name| std::env::var_os(name).is_some();
    if is_set("OMPI_COMM_WORLD_SIZE") || (is_set("PMIX_RANK") && !is_set("PMI_SIZE")) {
        &["libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpi.so"]
    } else {
        &["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12", "libmpi.so.40", "libmpi.so"]
    }
}

impl Loaded {
    /// The library that `CASTIRON_MPI` names, else the first that the loader finds.
    pub(super) fn find() -> Result<Self> {
        let named = std::env::var("CASTIRON_MPI").ok().filter(|name| !name.is_empty());
        if let Some(name) = named.as_deref().filter(|name| !name.starts_with('/')) {
            return Err(Error::Mpi(format!(
                "CASTIRON_MPI is `{name}`, and must be a path from the root of the file system"
            )));
        }
        let names = named.as_deref().map_or_else(|| names().to_vec(), |name| vec![name]);
        let mut failures = Vec::new();
        for name in names {
            // SAFETY: these are libraries of MPI, or one that the user named; their initialisers have no requirements. Open MPI's plugins look for its
            // symbols in the program, hence `RTLD_GLOBAL`.
            match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) } {
                Ok(library) => {
                    return Self::with(library, name).map_err(|error| Error::Mpi(format!("{name}: {error}")));
                }
                Err(error) => {
                    let why =
                        core::error::Error::source(&error).map_or_else(|| error.to_string(), |why| why.to_string());
                    failures.push(format!("\n  {name}: {why}"));
                }
            }
        }
        Err(Error::Mpi(format!(
            "a launcher has started this program, and MPI was not found: install that of the launcher (Debian: `libopenmpi3`, `libmpich12`), or name its \
             library by CASTIRON_MPI:{}",
            failures.concat()
        )))
    }

    fn with(library: Library, name: &str) -> core::result::Result<Self, String> {
        let functions = Functions::load(&library)?;
        // SAFETY: the address of a symbol is asked for, nothing is read.
        let is_open_mpi = unsafe { library.get::<*const c_void>(b"ompi_mpi_comm_world\0") }.is_ok();
        let file = name.rsplit('/').next().unwrap_or(name);
        let abi = if is_open_mpi && !file.contains("_abi") {
            Abi::OpenMpi
        } else if standard_abi(&library) {
            Abi::Standard
        } else {
            Abi::Mpich
        };
        let constant = |(symbol, mpich, standard)| constant(&library, abi, symbol, mpich, standard);
        let list = |constants: &mut dyn Iterator<Item = _>| {
            constants.map(constant).collect::<core::result::Result<Vec<_>, _>>()
        };
        Ok(Loaded {
            errors_return: constant(("errors_return", 0x5400_0001, 0x143))?,
            no_info: constant(("info_null", 0x1c00_0000, 0x130))?,
            world: constant(("comm_world", 0x4400_0000, 0x101))?,
            dtypes: list(&mut DType::ALL.iter().map(|dtype| datatype(*dtype)))?,
            operations: list(&mut Reduce::ALL.iter().map(|reduce| operator(*reduce)))?,
            abi,
            name: name.to_owned(),
            functions,
            _library: library,
        })
    }

    /// `MPI_COMM_WORLD`.
    pub(super) fn world(&self) -> Handle {
        self.world
    }
    /// `MPI_COMM_TYPE_SHARED`.
    pub(super) fn shared(&self) -> c_int {
        match self.abi {
            Abi::Standard => 221,
            Abi::OpenMpi => 0,
            Abi::Mpich => 1,
        }
    }
    /// `MPI_THREAD_SERIALIZED`: threads call it by turns.
    pub(super) fn by_turns(&self) -> c_int {
        if self.abi == Abi::Standard { 2048 } else { 2 }
    }
    /// `MPI_IN_PLACE`.
    pub(super) fn in_place(&self) -> usize {
        if self.abi == Abi::Mpich { usize::MAX } else { 1 }
    }

    /// Of dtypes that the engine reduces, and of those it moves: these by their width.
    pub(super) fn dtype(&self, dtype: DType) -> Handle {
        self.dtypes[dtype as usize]
    }

    /// MPI's own operation, where it does what is promised.
    pub(super) fn operation(&self, dtype: DType, reduce: Reduce) -> Option<Handle> {
        let has = match reduce {
            // (Open MPI's vector loops saturate.)
            Reduce::Sum => !matches!(dtype, DType::U8 | DType::U16),
            Reduce::Product => !matches!(dtype, DType::C64 | DType::C128),
            // (What it makes of NaN is not said.)
            Reduce::Max | Reduce::Min => !matches!(dtype, DType::F32 | DType::F64),
            Reduce::And | Reduce::Or => true,
        };
        has.then_some(self.operations[reduce as usize])
    }

    /// The text of an error.
    pub(super) fn error_text(&self, code: c_int) -> String {
        let (mut text, mut len) = ([0 as c_char; 1024], 0);
        // SAFETY: texts have at most 512 characters (`MPI_MAX_ERROR_STRING`), and a zero behind.
        unsafe { (self.functions.MPI_Error_string)(code, text.as_mut_ptr(), &mut len) };
        // SAFETY: the last of the characters is a zero in any case.
        unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
    }

    /// The first line of its version.
    pub(super) fn version(&self) -> String {
        let (mut text, mut len) = (vec![0 as c_char; 9000], 0);
        // SAFETY: texts have at most 8192 characters (`MPI_MAX_LIBRARY_VERSION_STRING`), and a zero behind.
        unsafe { (self.functions.MPI_Get_library_version)(text.as_mut_ptr(), &mut len) };
        // SAFETY: the last of the characters is a zero in any case.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
        text.lines()
            .next()
            .unwrap_or_default()
            .split(',')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A constant of the library, or of its ABI.
fn constant(
    library: &Library,
    abi: Abi,
    symbol: &str,
    mpich: usize,
    standard: usize,
) -> core::result::Result<Handle, String> {
    match abi {
        Abi::Standard => Ok(standard),
        Abi::Mpich => Ok(mpich),
        Abi::OpenMpi => {
            let name = format!("ompi_mpi_{symbol}\0");
            // SAFETY: the address is the constant; nothing is read there.
            let found = unsafe { library.get::<*const c_void>(name.as_bytes()) };
            found.map(|found| found.into_raw() as usize).map_err(|_| format!("`ompi_mpi_{symbol}` is missing"))
        }
    }
}

/// The datatype of a dtype that is reduced, or of one as wide: its name, and its number in the other two ABIs.
fn datatype(dtype: DType) -> (&'static str, usize, usize) {
    match dtype {
        DType::F32 => ("float", 0x4c00_040a, 0x210),
        DType::F64 => ("double", 0x4c00_080b, 0x214),
        DType::I8 => ("int8_t", 0x4c00_0137, 0x240),
        DType::I16 => ("int16_t", 0x4c00_0238, 0x248),
        DType::I32 => ("int32_t", 0x4c00_0439, 0x250),
        DType::I64 => ("int64_t", 0x4c00_083a, 0x258),
        DType::C64 => ("c_float_complex", 0x4c00_0840, 0x212),
        DType::C128 => ("c_double_complex", 0x4c00_1041, 0x216),
        other => match other.itemsize() {
            1 => ("uint8_t", 0x4c00_013b, 0x241),
            2 => ("uint16_t", 0x4c00_023c, 0x249),
            4 => ("uint32_t", 0x4c00_043d, 0x251),
            _ => ("uint64_t", 0x4c00_083e, 0x259),
        },
    }
}

/// The same for operations.
fn operator(reduce: Reduce) -> (&'static str, usize, usize) {
    match reduce {
        Reduce::Sum => ("op_sum", 0x5800_0003, 0x21),
        Reduce::Product => ("op_prod", 0x5800_0004, 0x24),
        Reduce::Max => ("op_max", 0x5800_0001, 0x23),
        Reduce::Min => ("op_min", 0x5800_0002, 0x22),
        Reduce::And => ("op_band", 0x5800_0006, 0x28),
        Reduce::Or => ("op_bor", 0x5800_0008, 0x29),
    }
}

/// Whether a library says that its ABI is the standard one.
fn standard_abi(library: &Library) -> bool {
    // SAFETY: MPI 5 gives the function this signature; it may be called before MPI is initialised.
    let found =
        unsafe { library.get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(b"MPI_Abi_get_version\0") };
    let Ok(version) = found else { return false };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: it writes two numbers.
    let code = unsafe { version(&mut major, &mut minor) };
    code == 0 && major >= 1
}
