// Packs what web/unpack.cpp unpacks: liblzma's raw LZMA stream with lc = 1, lp = 0, pb = 0. xz, the command, has no
// preset dictionary. web/lzma.mjs builds and runs it.
//   pack BEFORE NICE...  < dictionary of BEFORE bytes, then the data  > the shortest stream
// NICE: lengths of a match from which on no better way is looked for; the longest is not always the best.
#include <lzma.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const Bytes all{std::istreambuf_iterator<char>(std::cin), {}};
  const std::size_t before = std::strtoul(arguments[1], nullptr, 10);
  if (before > all.size()) return 2;
  Bytes best;
  for (int i = 2; i < count; ++i) {
    lzma_options_lzma options;
    if (lzma_lzma_preset(&options, 9 | LZMA_PRESET_EXTREME)) return 1;
    options.lc = 1, options.lp = 0, options.pb = 0;
    options.nice_len = static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 10));
    options.depth = 2000;
    if (before != 0) options.preset_dict = all.data(), options.preset_dict_size = static_cast<std::uint32_t>(before);
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    Bytes stream(lzma_stream_buffer_bound(all.size() - before) + 64);
    std::size_t size = 0;
    if (lzma_raw_buffer_encode(filters, nullptr, all.data() + before, all.size() - before, stream.data(), &size,
                               stream.size()) != LZMA_OK) {
      return 1;
    }
    stream.resize(size);
    if (best.empty() || stream.size() < best.size()) best = stream;
  }
  std::cout.write(reinterpret_cast<const char*>(best.data()), static_cast<std::streamsize>(best.size()));
  return std::cout.flush() ? 0 : 1;
}
