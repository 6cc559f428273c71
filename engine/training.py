"""A whole run: GPU-hours, days, dollars."""

from engine.formula import Number, formula
from engine.units import DAY_S, HOUR_S

ARITHMETIC = "Arithmetic of the interview card: work over what the GPUs achieve"


@formula(r"\frac{<flop>}{<peak_flop_per_s> \cdot <mfu>}", unit="GPU-seconds", source=ARITHMETIC,
         flop=r"C", peak_flop_per_s=r"P", mfu=r"\text{MFU}")  # fmt: skip
def gpu_seconds(flop: Number, peak_flop_per_s: Number, mfu: Number) -> Number:
    """GPU time of a run.   [GPU-seconds]

    flop              work of the run            [FLOP]
    peak_flop_per_s   dense peak of one GPU      [FLOP/s]
    mfu               share of the peak reached  [share above 0]

    >>> f"{gpu_seconds(6.3e24, 989e12, 0.4):.3g}"
    '1.59e+10'
    """
    return flop / (peak_flop_per_s * mfu)


@formula(r"\frac{<flop>}{<peak_flop_per_s> \cdot <mfu> \cdot 3600}", unit="GPU-hours", source=ARITHMETIC,
         flop=r"C", peak_flop_per_s=r"P", mfu=r"\text{MFU}")  # fmt: skip
def gpu_hours(flop: Number, peak_flop_per_s: Number, mfu: Number) -> Number:
    """GPU time of a run.   [GPU-hours]

    flop              work of the run            [FLOP]
    peak_flop_per_s   dense peak of one GPU      [FLOP/s]
    mfu               share of the peak reached  [share above 0]

    >>> round(gpu_hours(6.3e24, 989e12, 0.4) / 1e6, 1)
    4.4
    """
    return flop / (peak_flop_per_s * mfu) / HOUR_S


@gpu_hours.wrong("at peak speed", "No run reaches the peak: divide by the share it does reach (MFU).")
def hours_at_peak(flop: Number, peak_flop_per_s: Number, mfu: Number) -> Number:
    return gpu_hours(flop, peak_flop_per_s, 1.0)


@gpu_hours.wrong("the sparse peak", "Uses the peak with structured sparsity, twice the dense one; training is dense.")
def hours_at_sparse_peak(flop: Number, peak_flop_per_s: Number, mfu: Number) -> Number:
    return gpu_hours(flop, 2 * peak_flop_per_s, mfu)


@formula(r"\frac{<gpu_hours>}{<gpus> \cdot 24}", unit="days", source=ARITHMETIC,
         gpu_hours=r"\text{GPU-hours}", gpus=r"\text{GPUs}")  # fmt: skip
def wall_days(gpu_hours: Number, gpus: Number) -> Number:
    """Wall clock of a run.   [days]

    gpu_hours   GPU time of the run       [GPU-hours]
    gpus        GPUs working side by side [count]

    >>> round(wall_days(4.42e6, 1024)), round(wall_days(4.42e6, 8192))
    (180, 22)

    Breaks down on a larger cluster if the MFU falls with it.
    """
    return gpu_hours / gpus / (DAY_S / HOUR_S)


@formula(r"<gpu_hours> \cdot <usd_per_gpu_hour>", unit="USD", source=ARITHMETIC,
         gpu_hours=r"\text{GPU-hours}", usd_per_gpu_hour=r"\text{price}")  # fmt: skip
def run_usd(gpu_hours: Number, usd_per_gpu_hour: Number) -> Number:
    """Price of a run, before restarts and ablations.   [USD]

    gpu_hours          GPU time of the run    [GPU-hours]
    usd_per_gpu_hour   price of one GPU-hour  [USD]

    >>> round(run_usd(4.42e6, 2.5) / 1e6)
    11
    """
    return gpu_hours * usd_per_gpu_hour


@formula(r"\frac{<B> \cdot <s>}{<t>}", unit="tokens/s", source="A step trains one global batch")
def tokens_per_second(B: Number, s: Number, t: Number) -> Number:
    """Speed of training.   [tokens/s]

    B   global batch         [sequences]
    s   sequence length      [tokens]
    t   time of one step     [s above 0]

    >>> round(tokens_per_second(512, 8192, 4.3))
    975420
    """
    return B * s / t


@formula(r"\frac{<T>}{<r> \cdot 3600} \cdot <g>", unit="GPU-hours", source="Tokens over speed, times the GPUs")
def gpu_hours_at_speed(T: Number, r: Number, g: Number) -> Number:
    """GPU time of a run at a known speed.   [GPU-hours]

    T   training tokens                   [tokens]
    r   tokens per second of the run      [tokens/s]
    g   GPUs                              [count]

    >>> round(gpu_hours_at_speed(15e12, 975e3, 1024) / 1e6, 2)
    4.38
    """
    return T / r / HOUR_S * g
