// Worker threads that run samples. Threads own what they touch, so that their owner may leave without waiting for them.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "batch.h"

namespace pixelmill {

class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
   public:
    // Where an owner keeps its pool.
    struct Slot {
        std::shared_ptr<WorkerPool> pool;
        bool shares = false;  // the pool's buffers can be mapped by other processes
        bool closed = false;
    };

    // Returns the pool of a slot, after starting one there if there is none of this process. After a fork the child has
    // none of its parent's threads, and their locks may be held forever: it leaves the old pool alone.
    static std::shared_ptr<WorkerPool> ensure(Slot& slot, int threads);
    // Stops the threads of a slot and waits for them. No others start there afterward.
    static void close(Slot& slot);
    // The same for the whole process.
    static void close_all();

    std::shared_ptr<BufferPool> buffers();
    void add(const std::shared_ptr<Batch>& batch);
    // Runs samples in the calling thread while that is quick.
    void run_quick(Batch& batch);
    // Tells the threads to end after the samples under way, and drops the others. It waits for nothing, because a
    // garbage collector may be the caller. The lock it takes is never held while a thread waits for anything, Python's
    // GIL included.
    void stop();

   private:
    struct Registry;
    static Registry& registry();

    explicit WorkerPool(bool shares);
    bool inherited() const;  // by a fork: the pool and its threads belong to the parent process
    void start(int threads);
    void join();  // after `stop`; a worker that closes its own pool does not wait
    void loop(ThreadState& thread);
    std::shared_ptr<Batch> oldest();  // waits for one; null when the pool stops
    void remove(const std::shared_ptr<Batch>& batch);

    const int64_t owner_;
    std::mutex mutex_;
    std::condition_variable work_there_;
    std::list<std::shared_ptr<Batch>> queue_;  // batches with samples that no worker has taken, and some without
    size_t idle_ = 0;                          // threads that wait for work
    std::shared_ptr<BufferPool> buffers_;
    bool stopping_ = false;
    std::atomic<int> running_ = 0;  // threads that have not left their loop
    std::mutex caller_mutex_;
    std::unique_ptr<ThreadState> caller_;  // of the thread that runs a quick batch
    std::mutex join_mutex_;
    std::vector<std::thread> threads_;
};

}  // namespace pixelmill
