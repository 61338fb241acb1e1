"""Writes mxnet.rec and mxnet.idx with MXNet 1.9.1, the last version (Python 3.8, NumPy 1.23.5):

python tests/golden/write_recordio.py tests/golden
"""

import struct
import sys

import mxnet

MAGIC = struct.pack("<I", 0xCED7230A)
RECORDS = [
    (3.0, b"first image"),
    ([1.0, 2.5, -4.0], b"image with three labels"),
    (7.0, b""),
    (8.0, b"1234" + MAGIC + b"5678"),
    (9.0, MAGIC * 3),
    ([2.0, 3.0], b"unaligned " + MAGIC + b" magic"),
    (5.0, bytes(range(256)) * 4),
]

folder = sys.argv[1]
writer = mxnet.recordio.MXIndexedRecordIO(f"{folder}/mxnet.idx", f"{folder}/mxnet.rec", "w")
for number, (label, image) in enumerate(RECORDS):
    writer.write_idx(number, mxnet.recordio.pack(mxnet.recordio.IRHeader(0, label, number, 0), image))
writer.close()
