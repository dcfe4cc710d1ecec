// Scratch memory that can be refused: the core never throws, and a failed allocation is a Status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace posenc {

// An array of trivial elements on a cache line's boundary, not initialised.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(block_); }

  // False where `count` (a double, so that products of sizes do not wrap) does not fit in memory.
  [[nodiscard]] bool allocate(double count) {
    std::free(block_);
    block_ = nullptr, data_ = nullptr;
    const double bytes = count * static_cast<double>(sizeof(T)) + kLine;
    if (!(bytes < static_cast<double>(PTRDIFF_MAX))) return false;
    block_ = std::malloc(static_cast<std::size_t>(bytes));
    if (block_ == nullptr) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(block_);
    data_ = reinterpret_cast<T*>((address + kLine - 1) / kLine * kLine);
    return true;
  }

  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static constexpr std::size_t kLine = 64;
  void* block_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace posenc
