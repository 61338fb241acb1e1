// Batches on worker threads. One thread runs the whole program of a sample; batches overlap.
#pragma once

#include <memory>
#include <vector>

#include "worker_pool.h"

namespace pixelmill {

class Executor {
   public:
    // `shares`: blocks of whole batches can be mapped by other processes.
    explicit Executor(int threads, bool shares) : threads_(threads) { pool_.shares = shares; }
    // Stops the threads without waiting for them; see WorkerPool::stop.
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    // Starts a batch. `inputs` owns what the samples' inputs point to.
    std::shared_ptr<Batch> submit(std::shared_ptr<const Program> program, Limits limits,
                                  std::vector<Batch::Sample> samples, std::shared_ptr<const void> inputs);
    // Waits for a batch that was submitted here; one that is quick is worked on by the caller. False: not yet.
    bool wait(const std::shared_ptr<Batch>& batch, double seconds);
    // The memory of outputs.
    std::shared_ptr<BufferPool> buffers() { return WorkerPool::ensure(pool_, threads_)->buffers(); }
    // Waits for the samples under way and drops the others. Afterward `submit` throws Closed, as does `wait` for a
    // batch that was dropped.
    void close() { WorkerPool::close(pool_); }

   private:
    const int threads_;
    WorkerPool::Slot pool_;
};

}  // namespace pixelmill
