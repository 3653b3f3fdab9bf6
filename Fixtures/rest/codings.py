"""Bytes in each content coding that libcurl takes, flushed after each piece; brotli and zstd through the libraries of libcurl itself."""

import ctypes
import ctypes.util
import zlib

ROOM = 1 << 20


def _zlib(pieces, bits):
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    out = [packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) for piece in pieces]
    return out + [packer.flush()]


def _brotli(pieces):
    library = ctypes.CDLL("libbrotlienc.so.1")
    library.BrotliEncoderCreateInstance.restype = ctypes.c_void_p
    state = ctypes.c_void_p(library.BrotliEncoderCreateInstance(None, None, None))

    def step(piece, operation):
        room = ctypes.create_string_buffer(ROOM)
        left, free = ctypes.c_size_t(len(piece)), ctypes.c_size_t(ROOM)
        source = ctypes.c_char_p(piece)
        target = ctypes.cast(room, ctypes.c_void_p)
        library.BrotliEncoderCompressStream(
            state, operation, ctypes.byref(left), ctypes.byref(source), ctypes.byref(free), ctypes.byref(target), None)
        return room.raw[:ROOM - free.value]

    out = [step(piece, 1) for piece in pieces]
    return out + [step(b"", 2)]


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def _zstd(pieces):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    # ZSTD_c_checksumFlag
    library.ZSTD_CCtx_setParameter(context, 201, 1)
    library.ZSTD_compressStream2.restype = ctypes.c_size_t

    def step(piece, operation):
        room, source = ctypes.create_string_buffer(ROOM), ctypes.create_string_buffer(piece, len(piece) or 1)
        target = _Buffer(ctypes.cast(room, ctypes.c_void_p), ROOM, 0)
        given = _Buffer(ctypes.cast(source, ctypes.c_void_p), len(piece), 0)
        library.ZSTD_compressStream2(context, ctypes.byref(target), ctypes.byref(given), operation)
        return room.raw[:target.at]

    out = [step(piece, 1) for piece in pieces]
    return out + [step(b"", 2)]


def packed(coding, pieces):
    """The pieces of the coded data, of which the last one is its end alone."""
    return {
        "gzip": lambda: _zlib(pieces, 31), "deflate": lambda: _zlib(pieces, 15), "raw-deflate": lambda: _zlib(pieces, -15),
        "br": lambda: _brotli(pieces), "zstd": lambda: _zstd(pieces), "identity": lambda: list(pieces) + [b""],
    }[coding]()
