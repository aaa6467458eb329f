"""A convolution layer in NumPy: the forward pass, as its definition says it."""

import numpy as np


def zero_pad(images, pad):
    return np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)))


def forward(images, kernels, bias, stride, pad):
    """Slide every kernel over every image.

    images: (batch, height, width, channels)
    kernels: (filters, size, size, channels)
    bias: (filters,)
    returns: (batch, rows, columns, filters)
    """
    batch, height, width, _ = images.shape
    filters, size, _, _ = kernels.shape
    rows = (height + 2 * pad - size) // stride + 1
    columns = (width + 2 * pad - size) // stride + 1
    padded = zero_pad(images, pad)
    output = np.zeros((batch, rows, columns, filters))

    for image in range(batch):
        for row in range(rows):
            for column in range(columns):
                for kernel in range(filters):
                    top, left = row * stride, column * stride
                    window = padded[image, top : top + size, left : left + size]
                    total = np.sum(window * kernels[kernel])
                    output[image, row, column, kernel] = total + bias[kernel]
    return output
