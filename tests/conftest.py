"""What every test relies on: bounded examples, and no deadline, since the machines that run tests differ in speed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "shardboard",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("shardboard")
