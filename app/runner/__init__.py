"""torch.distributed for real: small processes on this machine train a small GPT with PyTorch's own frameworks.

The way of a run
    catalog.checked(demo, given)      every knob, or a Refusal before anything starts
    demo.predict(params)              what the run will show, by the engine's formulas   (no torch so far)
    launch.Runner.submit(...)         -> Run; the server never imports torch
    link.py -> zygote.py              one warm process that has imported torch, and forks
    forking.py -> worker.run_rank     the ranks, and one that trains alone ("ref")
    Run.follow(after)                 the events, each with its number
    verdict.verdict(prediction, ...)  predicted against measured, row by row

To add a strategy
    1. app/runner/demos/NAME.py        DEMO = Demo(...): words, knobs, rules, `predict`          (no torch)
    2. app/runner/strategies/NAME.py   build(rank) -> Training: the framework's own calls        (torch)
    3. one word in app/runner/catalog.py
The page, the command line, the zygote and the tests read the catalogue; the tests run every demo and want each row ok.

    rank.model()      the seeded model, the same on all ranks; cut or wrap it
    Training          model, optimizer, groups {axis: process group}, coordinates {axis: place}, part (which slice of the batch)
    a step of one's own (pipelines): any object with model, optimizer, groups, coordinates and step(tokens, targets, log);
                      it returns None on ranks that see no loss. `with log.during("forward")` books collectives to a phase
    rank.emit(kind, ...)    says something: emit(Pipe, step=…, ops=…), or emit(Measure, name=…, value=…), which a `Measurable`
                      of the prediction turns into a row of the verdict; a row that needs the events of all ranks together is
                      made by one of the prediction's `judges`
    Demo.reference    the file that builds what it is compared with, where that is not the seeded model (ep: ep_alone.py)

What a run says is listed in event_kinds.py, once: what ranks write, the server judges, pages read and files hold.
A run that failed as its fault demo said it would ends with run.failed and ok: true.
"""
