from worker.errors import ServiceError
from worker.stages.outcome import Outcome, StageError


def test_stage_errors_say_what_kind_of_failure_they_are() -> None:
    error = StageError("licence", "no token of vitis_hls; try again later")
    assert isinstance(error, ServiceError)
    assert (error.failure, str(error)) == ("licence", "no token of vitis_hls; try again later")


def test_an_outcome_without_failure_is_a_result() -> None:
    outcome = Outcome({"passed": True}, {"millrace": "1"})
    assert (outcome.failure, outcome.metrics, outcome.files) == (None, (), ())
