#include "executor.h"

#include <unistd.h>

namespace pixelmill {

Executor::Executor(int threads) : threads_(threads), buffers_(std::make_shared<BufferPool>()) {}

void Executor::start() {
    if (pool_ != nullptr && owner_ == ::getpid()) return;
    if (pool_ != nullptr) buffers_ = std::make_shared<BufferPool>();  // its lock, too, may have been taken
    pool_ = new Pool;
    owner_ = ::getpid();
    for (int i = 0; i < threads_; ++i) pool_->threads.emplace_back([pool = pool_] { pool->loop(); });
}

void Executor::close() {
    if (pool_ == nullptr || owner_ != ::getpid()) return;
    {
        const std::lock_guard lock(pool_->mutex);
        pool_->stopping = true;
        pool_->queue.clear();
    }
    pool_->work_there.notify_all();
    for (std::thread& thread : pool_->threads) thread.join();
    delete pool_;
    pool_ = nullptr;
}

void Executor::submit(const std::shared_ptr<Batch>& batch) {
    start();
    if (batch->size() > 0 && !batch->defer()) pool_->add({batch});
}

bool Executor::wait(const std::shared_ptr<Batch>& batch, double seconds) {
    if (batch->claim()) {
        start();
        const size_t next = pool_->run_quick(*batch);
        if (next < batch->size()) pool_->add({batch, next});  // it was not quick this time
    }
    return batch->wait(seconds);
}

void Executor::Pool::add(const Work& work) {
    {
        const std::lock_guard lock(mutex);
        queue.push_back(work);
    }
    work_there.notify_all();
}

size_t Executor::Pool::run_quick(Batch& batch) {
    const std::unique_lock lock(caller_mutex, std::try_to_lock);
    if (!lock) return 0;
    if (caller == nullptr) caller = std::make_unique<ThreadState>();
    return batch.run_at_once(*caller, 4 * Program::quick_batch);
}

void Executor::Pool::loop() {
    ThreadState thread;
    for (;;) {
        std::shared_ptr<Batch> batch;
        size_t index = 0;
        {
            std::unique_lock lock(mutex);
            work_there.wait(lock, [this] { return stopping || !queue.empty(); });
            if (stopping) return;
            Work& work = queue.front();
            batch = work.batch;
            index = work.next++;
            if (work.next == batch->size()) queue.pop_front();
        }
        batch->run(thread, index);
    }
}

}  // namespace pixelmill
