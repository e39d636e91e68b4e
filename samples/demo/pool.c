// A hand-written thread pool: see demo.h. What a careful C programmer would write: the two passes fused, so that each
// element is read and written once; threads that live between calls; rows taken in small blocks from a shared counter,
// so that nobody waits for the slowest; the calling thread works too.
#include "demo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCK = 16 };      // rows taken at once

typedef struct { const float *x; float a, b, *y; size_t rows, columns; } Job;

struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    pthread_t *thread;
    int threads;           // besides the caller
    int busy;
    unsigned round;        // the number of the current job
    int quit;
    Job job;
    atomic_size_t next;    // first row that nobody has taken
};

static void row(const float *restrict x, float a, float b, float *restrict y, size_t columns) {
    float sum = 0;
    for (size_t j = 0; j < columns; j++) {
        float v = a * x[j] + b;
        sum += v > 0.0f ? v : 0.0f;
        y[j] = sum;
    }
}

static void work(Pool *p) {
    Job job = p->job;
    for (size_t i; (i = atomic_fetch_add(&p->next, BLOCK)) < job.rows;)
        for (size_t end = i + BLOCK < job.rows ? i + BLOCK : job.rows; i < end; i++)
            row(job.x + i * job.columns, job.a, job.b, job.y + i * job.columns, job.columns);
}

static void *worker(void *arg) {
    Pool *p = arg;
    unsigned seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->quit && p->round == seen)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->quit)
            break;
        seen = p->round;
        pthread_mutex_unlock(&p->lock);
        work(p);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

Pool *pool_new(int threads) {
    Pool *p = calloc(1, sizeof *p);
    if (!p || !(p->thread = calloc((size_t)threads, sizeof *p->thread))) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    while (p->threads < threads - 1 && pthread_create(&p->thread[p->threads], NULL, worker, p) == 0)
        p->threads++;
    return p;
}

void pool_free(Pool *p) {
    pthread_mutex_lock(&p->lock);
    p->quit = 1;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    free(p->thread);
    free(p);
}

void pooled(Pool *p, const float *x, float a, float b, float *y, size_t rows, size_t columns) {
    pthread_mutex_lock(&p->lock);
    p->job = (Job){.x = x, .a = a, .b = b, .y = y, .rows = rows, .columns = columns};
    atomic_store(&p->next, 0);
    p->busy = p->threads;
    p->round++;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    work(p);
    pthread_mutex_lock(&p->lock);
    while (p->busy)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
