// posenc: positional encodings of Transformers and the attention they feed. The one header a C++ user includes.
#pragma once

#include "analysis/metrics.h"
#include "attention/attention.h"
#include "attention/multi_head.h"
#include "core/positions.h"
#include "core/status.h"
#include "kernels/normal.h"
#include "schemes/alone.h"
#include "schemes/frequency_report.h"
#include "schemes/registry.h"
#include "schemes/scheme.h"
