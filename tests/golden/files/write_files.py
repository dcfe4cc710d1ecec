#!/usr/bin/env python3
"""Writes files.json beside it (or where an argument says): small safetensors and npy files made byte by byte from the formats' descriptions, with
what stands in them. Nothing but Python's struct takes part, so that the readers are held against another's hand."""
import base64
import json
import os
import struct
import sys

HALF = [0.0, -0.0, 1.0, -2.0, 65504.0, 2.0**-14, 2.0**-24, -3 * 2.0**-24, 0.333251953125, float("inf"), float("-inf")]


def number(x):
    if isinstance(x, bool) or isinstance(x, int):
        return x
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    return "-0" if x == 0 and str(x)[0] == "-" else x


def bfloat(values, order="<"):
    return b"".join(struct.pack(order + "H", struct.unpack(">H", struct.pack(">f", x)[:2])[0]) for x in values)


def safetensors(tensors, metadata=None, pad=0):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, ensure_ascii=False).encode() + b" " * pad
    return struct.pack("<Q", len(text)) + text + data


def npy(descr, shape, raw, fortran=False, version=1, text=None):
    if text is None:
        inner = ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "")
        text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, fortran, inner)
    size = 10 if version == 1 else 12
    text = text.encode("utf-8" if version == 3 else "latin1")
    text += b" " * (-(size + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + raw


files = []


def add(name, raw, tensors):
    files.append({
        "name": name,
        "file": base64.b64encode(raw).decode(),
        "tensors": {key: {"dtype": d, "shape": s, "values": [number(v) for v in vs]} for key, (d, s, vs) in
                    tensors.items()},
    })


f64 = [0.1, -1e300, 5e-324, float("nan"), 2.0**53, -0.0]
f32 = [struct.unpack("<f", struct.pack("<f", x))[0] for x in (0.1, -3.4e38, 1e-45, 7.25)]
bf = [1.0, -0.0078125, 3.3895313892515355e38, float("-inf"), 9.183549615799121e-41, 100.5]
ints = [-(2**31), 2**31 - 1, 0, -1]
longs = [-(2**53), 2**53, 7, -1]

# Odd lengths come first, so that nothing after them is aligned.
add("every type.safetensors", safetensors({
    "mask": ("BOOL", [3], bytes([1, 0, 1])),
    "h.0.weight": ("F64", [2, 3], struct.pack("<6d", *f64)),
    "h.0.bias": ("F32", [4], struct.pack("<4f", *f32)),
    "half": ("F16", [11, 1], struct.pack("<11e", *HALF)),
    "brain": ("BF16", [3, 2], bfloat(bf)),
    "clip": ("I32", [2, 2], struct.pack("<4i", *ints)),
    "ids": ("I64", [4], struct.pack("<4q", *longs)),
    "U": ("U64", [1], struct.pack("<Q", 2**53)),
    "u": ("U32", [1], struct.pack("<I", 2**32 - 1)),
    "short": ("I16", [2], struct.pack("<2h", -32768, 32767)),
    "ushort": ("U16", [1], struct.pack("<H", 65535)),
    "byte": ("I8", [2], struct.pack("<2b", -128, 127)),
    "ubyte": ("U8", [1], bytes([255])),
    "scalar": ("F32", [], struct.pack("<f", 2.5)),
    "empty": ("F32", [0, 4], b""),
    "__proto__": ("F32", [1], struct.pack("<f", 3.0)),
    "größe/位置": ("F32", [1], struct.pack("<f", 4.0)),
}, {"format": "pt", "made by": "hand"}, pad=5), {
    "mask": ("bool", [3], [1, 0, 1]),
    "h.0.weight": ("float64", [2, 3], f64),
    "h.0.bias": ("float32", [4], f32),
    "half": ("float32", [11, 1], HALF),
    "brain": ("float32", [3, 2], bf),
    "clip": ("int32", [2, 2], ints),
    "ids": ("float64", [4], longs),
    "U": ("float64", [1], [2**53]),
    "u": ("float64", [1], [2**32 - 1]),
    "short": ("int32", [2], [-32768, 32767]),
    "ushort": ("int32", [1], [65535]),
    "byte": ("int32", [2], [-128, 127]),
    "ubyte": ("int32", [1], [255]),
    "scalar": ("float32", [], [2.5]),
    "empty": ("float32", [0, 4], []),
    "__proto__": ("float32", [1], [3.0]),
    "größe/位置": ("float32", [1], [4.0]),
})
add("nothing.safetensors", safetensors({}), {})

plain = {"f2": ("e", "float32", HALF), "f4": ("f", "float32", f32), "f8": ("d", "float64", f64),
         "i2": ("h", "int32", [-32768, 32767]), "u2": ("H", "int32", [0, 65535]), "i4": ("i", "int32", ints),
         "u4": ("I", "float64", [0, 2**32 - 1]), "i8": ("q", "float64", longs), "u8": ("Q", "float64", [0, 2**53])}
for version in (1, 2, 3):
    for order in "<>":
        for kind, (code, dtype, values) in plain.items():
            raw = struct.pack(order + str(len(values)) + code, *values)
            add("%s%s v%d.npy" % (order, kind, version), npy(order + kind, [len(values)], raw, version=version),
                {"": (dtype, [len(values)], values)})
for descr, raw, dtype, values in (("|b1", bytes([1, 0]), "bool", [1, 0]),
                                  ("|i1", bytes([128, 127]), "int32", [-128, 127]),
                                  ("|u1", bytes([0, 255]), "int32", [0, 255])):
    add("%s.npy" % descr, npy(descr, [2], raw), {"": (dtype, [2], values)})

shape = [2, 3, 4]
rows = list(range(24))
at = lambda i, j, k: (i * 3 + j) * 4 + k
columns = [at(i, j, k) for k in range(4) for j in range(3) for i in range(2)]
add("by rows.npy", npy("<f8", shape, struct.pack("<24d", *rows)), {"": ("float64", shape, [float(x) for x in rows])})
add("by columns.npy", npy("<f8", shape, struct.pack("<24d", *columns), fortran=True),
    {"": ("float64", shape, [float(x) for x in rows])})
add("by columns, big end.npy", npy(">i4", [2, 3], struct.pack(">6i", 0, 3, 1, 4, 2, 5), fortran=True),
    {"": ("int32", [2, 3], [0, 1, 2, 3, 4, 5])})
add("scalar.npy", npy("<f4", [], struct.pack("<f", 1.5)), {"": ("float32", [], [1.5])})
add("empty.npy", npy("<f4", [0, 3], b"", fortran=True), {"": ("float32", [0, 3], [])})
# Python 2 wrote long lengths, and older versions their keys in another order, without the last comma.
old = '{"shape": (2L, 1L), "fortran_order": False, "descr": "<f4"}'
add("old.npy", npy("", [], struct.pack("<2f", 1, 2), text=old), {"": ("float32", [2, 1], [1.0, 2.0])})

beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files.json")
with open(sys.argv[1] if len(sys.argv) > 1 else beside, "w", encoding="utf-8") as out:
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in files)
    out.write("[\n%s\n]\n" % lines)
