// A pointer that shares what it points to. Counts are plain: one thread.
#pragma once

#include <memory>
#include <utility>

namespace posenc {

/// Owns an object of type T together with its copies; the last one deletes it. Beside std::shared_ptr it has no weak
/// pointers and brings no type information into the module, which weighs as much as a scheme there.
template <class T>
class Shared {
 public:
  Shared() = default;
  template <class U>
  explicit Shared(std::unique_ptr<U> object) : object_(object.release()), owners_(object_ ? new int(1) : nullptr) {}
  Shared(const Shared& other) : object_(other.object_), owners_(other.owners_) {
    if (owners_ != nullptr) ++*owners_;
  }
  Shared(Shared&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), owners_(std::exchange(other.owners_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    std::swap(owners_, other.owners_);
    return *this;
  }
  ~Shared() {
    if (owners_ == nullptr || --*owners_ > 0) return;
    delete owners_;
    delete object_;
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Shared& other) const { return object_ == other.object_; }

  /// From the arguments of its constructor.
  template <class... Arguments>
  static Shared make(Arguments&&... arguments) {
    return Shared(std::make_unique<T>(std::forward<Arguments>(arguments)...));
  }

 private:
  T* object_ = nullptr;
  int* owners_ = nullptr;
};

}  // namespace posenc
