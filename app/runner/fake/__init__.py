"""The framework's own code on more ranks than anybody has: one process for each role, fake tensors, fake collectives.

    fake_request(document)          a checked request, or a Refusal            request.py
    roles_of(request)               the ranks that stand for all others        roles.py
    predict(request, role)          the engine's answer, before anything runs  predict.py
    run(request)                    the events of a trace, in other processes  run.py
    recorded(name)                  the events of a trace that was kept        record.py
    trace(request, role, emit)      one role in this process: needs torch      trace.py

Only held, llama, pipeline, shard, trace and watch import torch; forked.py starts them, as a process of its own.
"""
