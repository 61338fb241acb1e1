#include "worker_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "platform/system.h"

namespace pixelmill {

namespace {

thread_local const WorkerPool* pool_of_this_thread = nullptr;

}  // namespace

// All pools with threads, including those without an owner: the process must not end before their threads do.
struct WorkerPool::Registry {
    std::mutex mutex;
    std::vector<std::shared_ptr<WorkerPool>> pools;
    bool closed = false;
};

WorkerPool::Registry& WorkerPool::registry() {
    // Never destroyed: threads may outlive static objects. Locked during a fork, so that the child finds it unlocked.
    static Registry* const registry = [] {
        static Registry* const made = new Registry;
        at_fork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); }, [] { made->mutex.unlock(); });
        return made;
    }();
    return *registry;
}

WorkerPool::WorkerPool(bool shares) : owner_(process_id()), buffers_(std::make_shared<BufferPool>(shares)) {}

bool WorkerPool::inherited() const { return owner_ != process_id(); }

void WorkerPool::start(int threads) {
    try {
        for (; running_ < threads; ++running_) {
            // Made here: what a thread throws ends the process.
            threads_.emplace_back(
                [pool = shared_from_this(), state = std::make_unique<ThreadState>()] { pool->loop(*state); });
        }
    } catch (const std::system_error& error) {
        stop();  // the threads that were started end, and the next pool joins them
        throw NoThreads(std::to_string(running_ + 1) + " of " + std::to_string(threads) + " (" + error.what() + ")");
    } catch (...) {
        stop();
        throw;
    }
}

std::shared_ptr<WorkerPool> WorkerPool::ensure(Slot& slot, int threads) {
    std::vector<std::shared_ptr<WorkerPool>> ended;
    std::shared_ptr<WorkerPool> made;
    {
        Registry& all = registry();
        const std::lock_guard lock(all.mutex);
        if (slot.closed || all.closed) throw Closed();
        if (slot.pool != nullptr && !slot.pool->inherited()) return slot.pool;
        std::copy_if(all.pools.begin(), all.pools.end(), std::back_inserter(ended),
                     [](const auto& other) { return !other->inherited() && other->running_ == 0; });
        made.reset(new WorkerPool(slot.shares));
        all.pools.push_back(made);
        made->start(threads);
        slot.pool = made;
    }
    for (const auto& other : ended) other->join();  // at once: their threads have left their loops
    return made;
}

void WorkerPool::close(Slot& slot) {
    std::shared_ptr<WorkerPool> pool;
    {
        const std::lock_guard lock(registry().mutex);
        slot.closed = true;
        pool = slot.pool;
    }
    if (pool == nullptr) return;
    pool->stop();
    pool->join();
}

void WorkerPool::close_all() {
    std::vector<std::shared_ptr<WorkerPool>> pools;
    {
        Registry& all = registry();
        const std::lock_guard lock(all.mutex);
        all.closed = true;
        std::copy_if(all.pools.begin(), all.pools.end(), std::back_inserter(pools),
                     [](const auto& pool) { return !pool->inherited(); });
    }
    for (const auto& pool : pools) pool->stop();
    for (const auto& pool : pools) pool->join();
}

std::shared_ptr<BufferPool> WorkerPool::buffers() {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Closed();
    return buffers_;
}

void WorkerPool::add(const std::shared_ptr<Batch>& batch) {
    size_t woken = 0;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) throw Closed();
        queue_.push_back(batch);
        woken = std::min(idle_, batch->left());
    }
    for (; woken > 0; --woken) work_there_.notify_one();
}

void WorkerPool::run_quick(Batch& batch) {
    const std::unique_lock lock(caller_mutex_, std::try_to_lock);
    if (!lock) return;
    if (caller_ == nullptr) caller_ = std::make_unique<ThreadState>();
    batch.run_at_once(*caller_, 4 * Program::quick_batch);
}

void WorkerPool::stop() {
    if (inherited()) return;
    // Freed without the lock, since batches hold Python objects.
    std::list<std::shared_ptr<Batch>>
        dropped;  // a list, because an empty deque takes memory, and a destructor may be the caller
    std::shared_ptr<BufferPool> buffers;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        dropped.swap(queue_);
        buffers.swap(buffers_);
    }
    work_there_.notify_all();
    for (const auto& batch : dropped) batch->abandon();
}

void WorkerPool::join() {
    if (inherited() || pool_of_this_thread == this) return;
    const std::lock_guard joining(join_mutex_);
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    {
        const std::lock_guard lock(caller_mutex_);
        caller_.reset();  // it may hold a file open
    }
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.pools, [this](const auto& pool) { return pool.get() == this; });
}

std::shared_ptr<Batch> WorkerPool::oldest() {
    std::unique_lock lock(mutex_);
    ++idle_;
    work_there_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    return stopping_ ? nullptr : queue_.front();
}

void WorkerPool::remove(const std::shared_ptr<Batch>& batch) {
    const std::lock_guard lock(mutex_);
    if (!queue_.empty() && queue_.front() == batch) queue_.pop_front();  // another worker may have done it
}

// Workers stay with the oldest batch until all its samples are taken, so batches finish in order. The lock is taken
// twice for a batch and not for every sample; and nothing is held while a worker waits for work.
void WorkerPool::loop(ThreadState& thread) {
    pool_of_this_thread = this;
    while (const std::shared_ptr<Batch> batch = oldest()) {
        batch->run(thread);
        remove(batch);
    }
    --running_;
}

}  // namespace pixelmill
