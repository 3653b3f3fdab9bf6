/* A proxy on loopback that hands on each piece of a connection some milliseconds after it came, both ways: a slow network for
   Benchmarks/smb.py and postgres.py where the kernel has no netem. Usage: delay-proxy LISTEN_PORT TARGET_PORT MILLISECONDS
   When it is ended by SIGTERM, it prints how often a client sent something after an answer: the number of round trips. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct piece {
    struct piece *next;
    struct timespec due;
    ssize_t size;
    char bytes[1 << 16];
};

/* One way of a connection. */
struct way {
    int from, to;
    /* Whether the server has answered since the client last sent something; shared by both ways. */
    atomic_int *answered;
    int is_server;
    struct piece *first, **last;
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
};

/* In nanoseconds. */
static long delay;

static atomic_long round_trips;

static void print_round_trips(int number) {
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&round_trips));
    _exit(write(1, text, (size_t)length) == length && number == SIGTERM ? 0 : 1);
}

static void *take(void *argument) {
    struct way *way = argument;
    for (;;) {
        struct piece *piece = malloc(sizeof *piece);
        if (!piece) exit(1);
        piece->next = NULL;
        piece->size = read(way->from, piece->bytes, sizeof piece->bytes);
        clock_gettime(CLOCK_MONOTONIC, &piece->due);
        piece->due.tv_nsec += delay;
        piece->due.tv_sec += piece->due.tv_nsec / 1000000000;
        piece->due.tv_nsec %= 1000000000;
        int ends = piece->size <= 0;
        if (way->is_server)
            atomic_store(way->answered, 1);
        else if (!ends && atomic_exchange(way->answered, 0))
            atomic_fetch_add(&round_trips, 1);
        pthread_mutex_lock(&way->mutex);
        *way->last = piece;
        way->last = &piece->next;
        pthread_cond_signal(&way->arrived);
        pthread_mutex_unlock(&way->mutex);
        if (ends) return NULL;
    }
}

static void *give(void *argument) {
    struct way *way = argument;
    for (int ends = 0; !ends;) {
        pthread_mutex_lock(&way->mutex);
        while (!way->first) pthread_cond_wait(&way->arrived, &way->mutex);
        struct piece *piece = way->first;
        way->first = piece->next;
        if (!way->first) way->last = &way->first;
        pthread_mutex_unlock(&way->mutex);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &piece->due, NULL);
        for (ssize_t sent = 0, count; sent < piece->size; sent += count)
            if ((count = write(way->to, piece->bytes + sent, (size_t)(piece->size - sent))) <= 0) break;
        ends = piece->size <= 0;
        free(piece);
    }
    shutdown(way->to, SHUT_WR);
    return NULL;
}

static void start(int from, int to, atomic_int *answered, int is_server) {
    struct way *way = calloc(1, sizeof *way);
    if (!way) exit(1);
    *way = (struct way){.from = from, .to = to, .answered = answered, .is_server = is_server, .last = &way->first};
    pthread_mutex_init(&way->mutex, NULL);
    pthread_cond_init(&way->arrived, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, take, way);
    pthread_detach(thread);
    pthread_create(&thread, NULL, give, way);
    pthread_detach(thread);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, print_round_trips);
    delay = (long)(atof(arguments[3]) * 1e6);
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(arguments[1]));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) return 1;
    address.sin_port = htons((uint16_t)atoi(arguments[2]));
    for (;;) {
        int client = accept(listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM, 0);
        if (client < 0 || connect(server, (struct sockaddr *)&address, sizeof address)) return 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        atomic_int *answered = malloc(sizeof *answered);
        if (!answered) return 1;
        atomic_init(answered, 1);
        start(client, server, answered, 0);
        start(server, client, answered, 1);
    }
}
