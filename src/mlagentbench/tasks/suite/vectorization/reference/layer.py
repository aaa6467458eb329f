"""A convolution layer in NumPy: the forward pass as one matrix product per image.

All windows of an image are seen through strides, laid out as rows of a matrix, and
multiplied with all kernels at once.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def forward(images, kernels, bias, stride, pad):
    batch, height, width, channels = images.shape
    filters, size, _, _ = kernels.shape
    rows = (height + 2 * pad - size) // stride + 1
    columns = (width + 2 * pad - size) // stride + 1
    padded = np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    _, down, right, deep = padded.strides

    flat_kernels = kernels.reshape(filters, -1).T
    output = np.empty((batch, rows, columns, filters))
    for image in range(batch):
        windows = as_strided(
            padded[image],
            (rows, columns, size, size, channels),
            (down * stride, right * stride, down, right, deep),
            writeable=False,
        )
        flat_windows = windows.reshape(rows * columns, -1)
        np.matmul(flat_windows, flat_kernels, out=output[image].reshape(-1, filters))
    output += bias
    return output
