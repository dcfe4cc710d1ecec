// What a positional scheme costs, and the models that read a sequence in other ways (Vaswani et al. 2017, table 1).
#pragma once

#include "core/status.h"

namespace posenc {

/// One call of a model of `layers` layers on `length` tokens of `dim` columns. Counts are float64: exact to 2^53.
struct CostCall {
  double length = 0, dim = 0, heads = 1, layers = 1;
  double kernel_width = 3;      // of the convolution
  double parameters = 0;        // learned numbers of the scheme, counted once whatever the layers
  double embed_columns = 0;     // embed: columns of its table
  double turned_columns = 0;    // rotate: columns of each head that turn
  double bias_heads = 0;        // bias: heads that it is added to
  double pair_dots = 0;         // relate: dot products of a head's width for each query, key and head
  double query_rows = 0;        // relate: rows of a table that each token meets in each head, by such dot products
  double projected_rows = 0;    // relate: rows multiplied by a (dim, dim) matrix in each layer
  double table_numbers = 0;     // numbers of the table that a call makes beside the parameters: sines, biases
};

struct Cost {
  double parameters = 0, multiply_adds = 0, bytes = 0;
};

struct ModelCost : Cost {
  double sequential = 1;  // steps that wait for each other, in a layer
  double path = 1;        // longest way between two tokens, in layers or steps; infinite for a convolution of width 1
};

/// The scheme alone; layers of each kind without their feed-forward parts; and attention on tokens that the table of an
/// embed scheme was added to, or put beside. Bytes count parameters and the scheme's table in float32.
///   recurrent    h_t = s(W_h h + W_x x + b): layers (2 d^2 + d) parameters, 2 T d^2 multiply-adds a layer, T steps
///   convolution  layers (k d^2 + d), k T d^2, path ceil((T - 1) / (k - 1)) layers
///   attention    four projections: layers 4 d^2, 4 T d^2 + 2 T^2 d
///   scheme       embed T columns; rotate layers 4 T H columns (two a column of queries and of keys);
///                bias layers H T^2; relate layers (H T^2 pair_dots d/H + H T query_rows d/H + projected_rows d^2)
struct Costs {
  Cost scheme;
  ModelCost recurrent, convolution, attention;
  Cost adding, concatenating;  // attention on width d, and on d + embed_columns
};

/// Errors: length, dim, heads, layers or kernel width not whole numbers from 1 to 2^31; heads that do not divide dim.
Status count_costs(const CostCall& call, Costs& costs);

}  // namespace posenc
