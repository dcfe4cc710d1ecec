// The sets of options whose results are hashed. Each scheme's test names its own, at file scope:
//   const GoldenSets kGolden(schemes::bias_alibi, {"heads=8", "heads=12 rule=geometric", ...});
// and schemes_hash_test.cpp hashes them, for every scheme of the catalogue.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "schemes/scheme.h"

namespace posenc_test {

class GoldenSets {
 public:
  GoldenSets(const posenc::Descriptor& descriptor, std::initializer_list<const char*> options) {
    all()[&descriptor].assign(options.begin(), options.end());
  }

  static const std::vector<std::string>& of(const posenc::Descriptor& descriptor) { return all()[&descriptor]; }

 private:
  static std::map<const posenc::Descriptor*, std::vector<std::string>>& all() {
    static std::map<const posenc::Descriptor*, std::vector<std::string>> sets;
    return sets;
  }
};

}  // namespace posenc_test
