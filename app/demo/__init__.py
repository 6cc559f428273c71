"""The old place of app/runner, for one version: torchrun scripts may still name `-m app.demo.worker`."""
