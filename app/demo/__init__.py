"""What was here is app/runner now. For one version torchrun scripts may still name `-m app.demo.worker`."""
