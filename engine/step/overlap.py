"""Gradients that travel while the backward pass goes on: buckets, and what of their traffic still shows."""

import numpy as np

from engine.language.formula import Number, formula

DDP_PAPER = "Li et al. 2020 (PyTorch Distributed), section 3.2.3: gradients are summed in buckets, last layer first"


@formula(r"\lceil \frac{<S>}{<b>} \rceil", unit="buckets", source=DDP_PAPER)
def gradient_buckets(S: Number, b: Number) -> Number:
    """Buckets that the gradients of a model fill.   [buckets]

    S   gradients                [bytes]
    b   size of a bucket         [bytes above 0]

    >>> int(gradient_buckets(14e9, 25 * 2**20))
    535
    """
    return np.ceil(S / b)


@formula(
    r"\frac{4 \cdot <N> \cdot <T>}{<P> \cdot <u>}",
    unit="s",
    source="Kaplan et al. 2020, section 2.1: backward is 4 FLOP per weight and token",
)
def backward_s(N: Number, T: Number, P: Number, u: Number) -> Number:
    """Time of the backward pass of one GPU.   [s]

    N   parameters              [parameters]
    T   tokens of this GPU      [tokens]
    P   dense peak of one GPU   [FLOP/s]
    u   share of it reached     [share above 0]

    >>> round(backward_s(7e9, 8192, 989e12, 0.5) * 1e3)
    464
    """
    return 4 * N * T / (P * u)


@formula(
    r"\frac{2 \cdot <N> \cdot <T>}{<P> \cdot <u>}",
    unit="s",
    source="Kaplan et al. 2020, section 2.1: forward is 2 FLOP per weight and token",
)
def forward_s(N: Number, T: Number, P: Number, u: Number) -> Number:
    """Time of the forward pass of one GPU.   [s]

    N   parameters              [parameters]
    T   tokens of this GPU      [tokens]
    P   dense peak of one GPU   [FLOP/s]
    u   share of it reached     [share above 0]

    >>> round(forward_s(7e9, 8192, 989e12, 0.5) * 1e3)
    232
    """
    return 2 * N * T / (P * u)


@formula(
    r"\max\left(<c> - <B>, 0\right) + \frac{\min\left(<c>, <B>\right)}{<k>}",
    unit="s",
    source="Buckets leave as they fill: what outlasts the backward pass, and the last bucket, show",
)
def exposed_tail_s(c: Number, B: Number, k: Number) -> Number:
    """Gradient traffic that sticks out past the backward pass.   [s]

    c   time of all gradient traffic   [s]
    B   time of the backward pass      [s]
    k   buckets                        [count]

    >>> float(round(exposed_tail_s(0.0544, 0.464, 534) * 1e3, 2))
    0.1

    Breaks down where a few large layers hold most parameters: then buckets do not fill evenly.
    """
    return np.maximum(c - B, 0) + np.minimum(c, B) / k
