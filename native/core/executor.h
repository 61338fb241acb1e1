// Worker threads that run samples. One thread runs the whole program of a sample; batches overlap.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "batch.h"

namespace pixelmill {

class Executor {
   public:
    explicit Executor(int threads);
    ~Executor() { close(); }
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    void submit(const std::shared_ptr<Batch>& batch);
    // Waits for a batch that was submitted here; one that is quick is worked on by the caller. False: not yet.
    bool wait(const std::shared_ptr<Batch>& batch, double seconds);
    void close();  // waits for the samples under way, drops those not begun; submit would start anew
    std::shared_ptr<BufferPool> buffers() const { return buffers_; }

   private:
    struct Work {
        std::shared_ptr<Batch> batch;
        size_t next = 0;  // sample
    };
    // Everything threads touch. After a fork the child has none of its parent's threads, and a lock of theirs may be
    // taken for ever: the child leaves the old pool alone and makes a new one.
    struct Pool {
        std::mutex mutex;
        std::condition_variable work_there;
        std::deque<Work> queue;
        std::vector<std::thread> threads;
        bool stopping = false;
        std::mutex caller_mutex;
        std::unique_ptr<ThreadState> caller;  // of whoever works on a quick batch
        void loop();
        void add(const Work& work);
        size_t run_quick(Batch& batch);  // the first sample that is left
    };
    void start();

    int threads_;
    pid_t owner_ = 0;
    Pool* pool_ = nullptr;
    std::shared_ptr<BufferPool> buffers_;
};

}  // namespace pixelmill
