// Heat maps: values to colours, and larger maps shrunk to the pixels there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posenc {

/// A map of rows x columns cells drawn as height x width pixels, no more than there are cells on either axis. Pixel x
/// stands for the cells from floor(x columns / width) to before floor((x + 1) columns / width), rows alike, and shows
/// their mean, NaN (masked) cells left out; a pixel of masked cells alone is masked.
struct HeatMap {
  std::size_t rows, columns, height, width;
  /// The pixel rows that are drawn, of all.
  std::size_t first, count;
  /// The cells of those pixel rows, `stride` apart.
  const float* values;
  std::size_t stride;
  /// A value's entry in the table: (value - low) * factor to the nearest, ties to even, no less than 0 and no more than
  /// 254; infinities take the ends. `low` and `factor` are finite, `factor` above 0.
  float low, factor;
  /// 256 colours of four bytes, the last for masked pixels.
  const std::uint32_t* table;
};

/// The first row of cells of a pixel row.
constexpr std::size_t first_cell(std::size_t pixel, std::size_t cells, std::size_t pixels) {
  return static_cast<std::size_t>(std::uint64_t{pixel} * cells / pixels);
}

// values (rows of pixels `first` to before `first + count`, columns) -> pixels (count, width). `sums` and `seen` have
// room for `columns` elements each. Cells are added in float32, down each column first, then along the pixel.
void paint(const HeatMap& map, float* sums, std::int32_t* seen, std::uint32_t* pixels);

}  // namespace posenc
