// A network of delayed links for `namespaces`: each namespace that is named gets the device `mesh0`, and what one sends comes out of another's
// after the delay, in order. An IPv4 address 10.77.0.N is that of the Nth namespace. Not for more than measuring: one thread carries all.
//
// delay MICROSECONDS NAMESPACE...
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, SLOTS = 2048, ROOM = 65536 };
static struct {
    long long due;
    int to, len;
    unsigned char bytes[ROOM];
} *ring;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void fail(const char *what) {
    perror(what);
    exit(1);
}

int main(int argc, char **argv) {
    int ends = argc - 2;
    if (ends < 2 || ends > MOST) {
        fprintf(stderr, "delay MICROSECONDS NAMESPACE...: 2 to 16 namespaces\n");
        return 1;
    }
    long long delay = atoll(argv[1]) * 1000;
    struct pollfd ready[MOST];
    for (int i = 0; i < ends; i++) {
        char path[256];
        snprintf(path, sizeof path, "/var/run/netns/%s", argv[i + 2]);
        int space = open(path, O_RDONLY);
        if (space < 0 || setns(space, CLONE_NEWNET)) fail(path);
        close(space);
        int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
        if (tun < 0) fail("/dev/net/tun");
        struct ifreq request = {0};
        strcpy(request.ifr_name, "mesh0");
        request.ifr_flags = IFF_TUN | IFF_NO_PI;
        if (ioctl(tun, TUNSETIFF, &request)) fail("TUNSETIFF");
        ready[i].fd = tun;
    }
    // A timer of the kernel may come 50 us late unless this is asked.
    prctl(PR_SET_TIMERSLACK, 1);
    ring = malloc(SLOTS * sizeof *ring);
    if (!ring) fail("malloc");
    puts("up");
    fflush(stdout);
    unsigned first = 0, end = 0;
    for (;;) {
        int full = end - first == SLOTS;
        for (int i = 0; i < ends; i++) ready[i].events = full ? 0 : POLLIN;
        long long wait = first == end ? 1000000000 : ring[first % SLOTS].due - now();
        if (wait < 0) wait = 0;
        struct timespec limit = {wait / 1000000000, wait % 1000000000};
        if (ppoll(ready, ends, &limit, NULL) < 0) fail("ppoll");
        for (int i = 0; i < ends; i++)
            for (int turn = 0; (ready[i].revents & POLLIN) && turn < 16 && end - first < SLOTS; turn++) {
                unsigned slot = end % SLOTS;
                unsigned char *packet = ring[slot].bytes;
                int len = read(ready[i].fd, packet, ROOM);
                if (len <= 0) break;
                int to = packet[19] - 1;
                // IPv4 between the namespaces alone.
                if (len < 20 || packet[0] >> 4 != 4 || packet[16] != 10 || packet[17] != 77 || to < 0 || to >= ends) continue;
                ring[slot].due = now() + delay;
                ring[slot].to = to;
                ring[slot].len = len;
                end++;
            }
        for (; first != end && ring[first % SLOTS].due <= now(); first++) {
            unsigned slot = first % SLOTS;
            // (What does not fit is lost, as on a wire: TCP sends it again.)
            if (write(ready[ring[slot].to].fd, ring[slot].bytes, ring[slot].len) < 0) continue;
        }
    }
}
