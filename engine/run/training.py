"""A whole run: how its GPUs and its batch are dealt, GPU-hours, days, dollars."""

from engine.language.formula import Number, formula
from engine.language.units import DAY_S, HOUR_S

ARITHMETIC = "Arithmetic of the interview card: work over what the GPUs achieve"


@formula(
    r"\frac{<flop>}{<peak_flop_per_s> \cdot <mfu>}",
    unit="GPU-seconds",
    source=ARITHMETIC,
    flop=r"C",
    peak_flop_per_s=r"P",
    mfu=r"\text{MFU}",
)
def gpu_seconds(flop: Number, peak_flop_per_s: Number, mfu: Number) -> Number:
    """GPU time of a run.   [GPU-seconds]

    flop              work of the run            [FLOP]
    peak_flop_per_s   dense peak of one GPU      [FLOP/s]
    mfu               share of the peak reached  [share above 0]

    >>> f"{gpu_seconds(6.3e24, 989e12, 0.4):.3g}"
    '1.59e+10'
    """
    return flop / (peak_flop_per_s * mfu)


@formula(
    r"\frac{<flop>}{<peak_flop_per_s> \cdot <mfu> \cdot 3600}",
    unit="GPU-hours",
    source=ARITHMETIC,
    flop=r"C",
    peak_flop_per_s=r"P",
    mfu=r"\text{MFU}",
)
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


@formula(
    r"\frac{<gpu_hours>}{<gpus> \cdot 24}",
    unit="days",
    source=ARITHMETIC,
    gpu_hours=r"\text{GPU-hours}",
    gpus=r"\text{GPUs}",
)
def wall_days(gpu_hours: Number, gpus: Number) -> Number:
    """Wall clock of a run.   [days]

    gpu_hours   GPU time of the run       [GPU-hours]
    gpus        GPUs working side by side [count]

    >>> round(wall_days(4.42e6, 1024)), round(wall_days(4.42e6, 8192))
    (180, 22)

    Breaks down on a larger cluster if the MFU falls with it.
    """
    return gpu_hours / gpus / (DAY_S / HOUR_S)


@formula(
    r"<gpu_hours> \cdot <usd_per_gpu_hour>",
    unit="USD",
    source=ARITHMETIC,
    gpu_hours=r"\text{GPU-hours}",
    usd_per_gpu_hour=r"\text{price}",
)
def run_usd(gpu_hours: Number, usd_per_gpu_hour: Number) -> Number:
    """Price of a run, before restarts and ablations.   [USD]

    gpu_hours          GPU time of the run    [GPU-hours]
    usd_per_gpu_hour   price of one GPU-hour  [USD]

    >>> round(run_usd(4.42e6, 2.5) / 1e6)
    11
    """
    return gpu_hours * usd_per_gpu_hour


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


@formula(r"<t> \cdot <c> \cdot <p> \cdot <d>", unit="GPUs", source="Every rank has one place on each axis")
def layout_gpus(t: Number, c: Number, p: Number, d: Number) -> Number:
    """GPUs that a layout fills.   [GPUs]

    t   tensor-parallel degree    [count]
    c   context-parallel degree   [count]
    p   pipeline stages           [count]
    d   data-parallel width       [count]

    >>> layout_gpus(8, 1, 4, 32)
    1024

    Expert parallelism is not a factor of its own: it spreads over ranks that are here already.
    """
    return t * c * p * d


@formula(
    r"\frac{<g>}{<t> \cdot <c> \cdot <p>}", unit="copies", source="Data parallelism takes what the other degrees leave"
)
def data_width(g: Number, t: Number, c: Number, p: Number) -> Number:
    """Copies of the model that train side by side.   [copies]

    g   GPUs                      [count]
    t   tensor-parallel degree    [count]
    c   context-parallel degree   [count]
    p   pipeline stages           [count]

    >>> data_width(1024, 8, 1, 4)
    32.0

    Breaks down unless the degrees divide the GPUs: a layout that leaves some over is refused.
    """
    return g / (t * c * p)


@data_width.wrong(
    "stages counted as copies", "A pipeline's stages hold different layers of one copy: only together are they a model."
)
def stages_as_copies(g: Number, t: Number, c: Number, p: Number) -> Number:
    return g / (t * c)


@data_width.wrong("every GPU a copy", "That is plain data parallelism: whoever cuts the model has fewer copies of it.")
def gpus_as_copies(g: Number, t: Number, c: Number, p: Number) -> Number:
    return g


@formula(r"\frac{<B>}{<d> \cdot <b>}", unit="micro-batches", source="The global batch is dealt over the copies")
def micro_batches_each(B: Number, d: Number, b: Number) -> Number:
    """Micro-batches that each pipeline runs in a step.   [micro-batches]

    B   global batch          [sequences]
    d   data-parallel width   [count]
    b   micro-batch           [sequences above 0]

    >>> micro_batches_each(512, 32, 1)
    16.0
    """
    return B / (d * b)


@formula(r"<B> \cdot <s>", unit="tokens", source="A step trains one global batch")
def batch_tokens(B: Number, s: Number) -> Number:
    """Tokens of one step.   [tokens]

    B   global batch      [sequences]
    s   sequence length   [tokens]

    >>> batch_tokens(512, 8192)
    4194304
    """
    return B * s


@formula(r"\frac{<L>}{<p> \cdot <v>}", unit="layers", source="Layers are dealt evenly over stages and chunks")
def chunk_layers(L: Number, p: Number, v: Number = 1) -> Number:
    """Layers of a stage, or of one of its chunks.   [layers]

    L   layers                               [count]
    p   pipeline stages                      [count]
    v   chunks of a stage; 1 is the stage    [count]

    >>> chunk_layers(80, 4), chunk_layers(80, 4, 2)
    (20.0, 10.0)

    Breaks down unless it comes out whole: then stages are uneven, or the ends hold a layer less.
    """
    return L / (p * v)


@formula(
    r"20 \cdot <N>", unit="tokens", source="Hoffmann et al. 2022 (Chinchilla), table 3: about 20 tokens per parameter"
)
def chinchilla_tokens(N: Number) -> Number:
    """Tokens that make the best model for a given amount of work.   [tokens]

    N   parameters   [parameters]

    >>> chinchilla_tokens(70e9) / 1e12
    1.4

    Breaks down where inference counts too: smaller models on many more tokens are cheaper to serve.
    """
    return 20 * N


@formula(
    r"<U> \cdot (1 + <r> + <a>)",
    unit="USD",
    source="The interview card: restarts of 5 to 10 %, ablations of 1 to 2 main runs",
)
def budget_usd(U: Number, r: Number, a: Number) -> Number:
    """Price of a run with all that surrounds it.   [USD]

    U   price of the main run alone                   [USD]
    r   restarts, as a share of it                    [share]
    a   ablations, in main runs                       [main runs]

    >>> round(budget_usd(11e6, 0.05, 1) / 1e6, 2)
    22.55
    """
    return U * (1 + r + a)
