// All-reduce of f32 from C, beside which castiron's is measured: `cargo test --release -p castiron-mesh --lib -- --ignored speed --nocapture`
// compiles and starts it. There is no header: these are the constants of Open MPI, and with -DMPICH those of MPICH.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef MPICH
typedef int Handle;
#define WORLD 0x44000000
#define FLOAT 0x4c00040a
#define SUM 0x58000003
#define IN_PLACE ((void *)-1)
#else
typedef void *Handle;
extern char ompi_mpi_comm_world[], ompi_mpi_float[], ompi_mpi_op_sum[];
#define WORLD ((void *)ompi_mpi_comm_world)
#define FLOAT ((void *)ompi_mpi_float)
#define SUM ((void *)ompi_mpi_op_sum)
#define IN_PLACE ((void *)1)
#endif
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int MPI_Comm_rank(Handle, int *);
int MPI_Barrier(Handle);
int MPI_Allreduce(const void *, void *, int, Handle, Handle, Handle);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    static const long sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 64 << 20};
    for (int size = 0; size < 9; size++) {
        long bytes = sizes[size];
        long len = bytes / 4, times = bytes < 100000 ? 2000 : bytes < 10000000 ? 60 : 12;
        float *x = malloc(bytes);
        for (long i = 0; i < len; i++) x[i] = 1;
        double best = 1e9;
        for (long time = 0; time < times; time++) {
            MPI_Barrier(WORLD);
            double start = now();
            MPI_Allreduce(IN_PLACE, x, (int)len, FLOAT, SUM, WORLD);
            double took = now() - start;
            if (took < best) best = took;
        }
        if (rank == 0) printf("\nsays %ld %.9f\n", bytes, best);
        free(x);
    }
    MPI_Finalize();
    return 0;
}
